import { resolve } from "node:path";

export const REPO_ROOT = resolve(import.meta.dirname, "..");
/** Where a local platform keeps its state, below the repository. */
export const DEFAULT_STATE = ".threadworks/state";

const NPM_SCRIPTS = new Set(["start", "dev", "cli", "build", "deploy"]);

/** A path as typed: npm changes to the package's folder before it runs a script. */
export function pathFromUser(path: string): string {
  const { npm_lifecycle_event: script = "", INIT_CWD: typedIn } = process.env;
  const from = NPM_SCRIPTS.has(script) && typedIn !== undefined ? typedIn : process.cwd();
  return resolve(from, path);
}
