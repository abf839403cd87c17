import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

/** The folder of the checkout, or that of the installed package. */
export const REPO_ROOT = resolve(import.meta.dirname, "..");

/** The folder of what the package brings built. A checkout has no such folder. */
export const BUILT_FOLDER = join(REPO_ROOT, "built");
export const IS_PACKAGE = existsSync(BUILT_FOLDER);

/** The version that the package.json of the checkout, or of the installed package, says. */
export function ownVersion(): string {
  const manifest = readFileSync(join(REPO_ROOT, "package.json"), "utf8");
  return (JSON.parse(manifest) as { version: string }).version;
}

/** Those of this repository, which npm runs in its folder. */
const NPM_SCRIPTS = new Set(["start", "dev", "cli", "build", "deploy"]);

/** A path as typed: npm changes to this repository's folder before it runs a script of it. */
export function pathFromUser(path: string): string {
  const { npm_lifecycle_event: script = "", INIT_CWD: typedIn } = process.env;
  const isOurScript = !IS_PACKAGE && NPM_SCRIPTS.has(script);
  const from = isOurScript && typedIn !== undefined ? typedIn : process.cwd();
  return resolve(from, path);
}
