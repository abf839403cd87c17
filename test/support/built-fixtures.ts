import { constants, cpSync } from "node:fs";
import { join, resolve } from "node:path";

export const REPO_ROOT = resolve(import.meta.dirname, "../..");

export const FIXTURES = join(REPO_ROOT, "test/fixtures");

const BUILT = join(REPO_ROOT, ".threadworks/test");

/** The state of a platform that has built `test/fixtures` and migrated its database, and has not served. */
export const PREPARED_STATE = join(BUILT, "state");

/** The folder of a project's bundled Worker, and of the modules that it imports. */
export function builtProject(name: string): string {
  return join(BUILT, name);
}

/**
 * Puts into a new state folder what a first start builds. The records of the builds hold for the copy: a
 * start on it builds what differs from `test/fixtures`, and nothing else.
 */
export function seedBuild(stateDir: string): void {
  copyPart("build", stateDir);
}

/** The same with a migrated database, which is one of the US region. */
export function seedState(stateDir: string): void {
  seedBuild(stateDir);
  copyPart("v3", stateDir);
}

function copyPart(name: string, stateDir: string): void {
  const mode = constants.COPYFILE_FICLONE;
  cpSync(join(PREPARED_STATE, name), join(stateDir, name), { recursive: true, mode });
}
