import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

/** The folder of the checkout, or that of the installed package. */
export const REPO_ROOT = resolve(import.meta.dirname, "..");

/** The folder of the package's prebuilt parts. A checkout does not have it. */
export const BUILT_FOLDER = join(REPO_ROOT, "built");
export const IS_PACKAGE = existsSync(BUILT_FOLDER);

/** Returns the version in the package.json of the checkout, or of the installed package. */
export function ownVersion(): string {
  const manifest = readFileSync(join(REPO_ROOT, "package.json"), "utf8");
  return (JSON.parse(manifest) as { version: string }).version;
}

/** The scripts of this repository, which npm runs in the repository's folder. */
const NPM_SCRIPTS = new Set(["start", "dev", "cli", "build", "deploy"]);

/**
 * Resolves a path relative to the folder in which the user typed it: npm changes to this repository's folder
 * before it runs one of its scripts.
 */
export function pathFromUser(path: string): string {
  const { npm_lifecycle_event: script = "", INIT_CWD: typedIn } = process.env;
  const isOurScript = !IS_PACKAGE && NPM_SCRIPTS.has(script);
  const from = isOurScript && typedIn !== undefined ? typedIn : process.cwd();
  return resolve(from, path);
}
