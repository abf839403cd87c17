import { constants, cpSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { WorkerConfig } from "../../cli/platform/worker-options.ts";

export const REPO_ROOT = resolve(import.meta.dirname, "../..");

export const FIXTURES = join(REPO_ROOT, "test/fixtures");

const BUILT = join(REPO_ROOT, ".threadworks/test");

/** The state of a platform that has built `test/fixtures` and migrated its database, but has not served. */
export const PREPARED_STATE = join(BUILT, "state");

/** The same of a platform that has built this repository's own project, the examples. */
export const PREPARED_EXAMPLES = join(BUILT, "examples");

/** `wrangler.toml` as read when the fixtures were built, without the variables of a `.dev.vars` beside it. */
export const CONFIG_FILE = join(BUILT, "config.json");

/** The folder of the bundled Worker. */
export const BUILT_WORKER = join(BUILT, "worker");

/** Returns the folder of a project's bundle. */
export function builtProject(name: string): string {
  return join(BUILT, name);
}

/**
 * Returns the configuration. Servers do not read `wrangler.toml`, as wrangler's library takes as long to load as a
 * server takes to start.
 */
export function builtConfig(): WorkerConfig {
  return JSON.parse(readFileSync(CONFIG_FILE, "utf8")) as WorkerConfig;
}

/**
 * Copies the result of a first start into a new state folder. The build records are valid for the copy: a start on it
 * builds only what differs.
 */
export function seedBuild(stateDir: string, from: string = PREPARED_STATE): void {
  copy(join(from, "build"), join(stateDir, "build"));
}

/** Does the same with a migrated database, which belongs to the US region. */
export function seedState(stateDir: string, from: string = PREPARED_STATE): void {
  seedBuild(stateDir, from);
  seedDatabases(join(stateDir, "v3"));
}

/** Copies migrated databases to the folder in which a server stores its data. */
export function seedDatabases(persistPath: string): void {
  copy(join(PREPARED_STATE, "v3"), persistPath);
}

function copy(from: string, to: string): void {
  cpSync(from, to, { recursive: true, mode: constants.COPYFILE_FICLONE });
}
