import { constants, cpSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { WorkerConfig } from "../../cli/platform/worker-options.ts";

export const REPO_ROOT = resolve(import.meta.dirname, "../..");

export const FIXTURES = join(REPO_ROOT, "test/fixtures");

const BUILT = join(REPO_ROOT, ".threadworks/test");

/** The state of a platform that has built `test/fixtures` and migrated its database, and has not served. */
export const PREPARED_STATE = join(BUILT, "state");

/** The same of a platform that has built this repository's own project, the examples. */
export const PREPARED_EXAMPLES = join(BUILT, "examples");

/** `wrangler.toml` as it was read when the fixtures were built, without the variables of a `.dev.vars` beside it. */
export const CONFIG_FILE = join(BUILT, "config.json");

/** The folder of the bundled Worker. */
export const BUILT_WORKER = join(BUILT, "worker");

/** The folder of a project's bundle. */
export function builtProject(name: string): string {
  return join(BUILT, name);
}

/** Servers read no `wrangler.toml` themselves: wrangler's library takes as long to load as a server to start. */
export function builtConfig(): WorkerConfig {
  return JSON.parse(readFileSync(CONFIG_FILE, "utf8")) as WorkerConfig;
}

/**
 * Puts into a new state folder what a first start builds. The records of the builds hold for the copy: a
 * start on it builds what differs from what was built, and nothing else.
 */
export function seedBuild(stateDir: string, from: string = PREPARED_STATE): void {
  copy(join(from, "build"), join(stateDir, "build"));
}

/** The same with a migrated database, which is one of the US region. */
export function seedState(stateDir: string, from: string = PREPARED_STATE): void {
  seedBuild(stateDir, from);
  seedDatabases(join(stateDir, "v3"));
}

/** Puts migrated databases where a server keeps what it stores. */
export function seedDatabases(persistPath: string): void {
  copy(join(PREPARED_STATE, "v3"), persistPath);
}

function copy(from: string, to: string): void {
  cpSync(from, to, { recursive: true, mode: constants.COPYFILE_FICLONE });
}
