import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { makePrivateFolder } from "../platform/private-folder.ts";

/** The state that `up` keeps of an installation, so that a repeated `up` continues where an earlier one stopped. */
const upState = z.object({
  /**
   * The first workspace and its key. They are saved here before they are stored in the database, so that a
   * retry stores the same ones.
   */
  workspaceId: z.string().optional(),
  apiKey: z.string().optional(),
  url: z.string().optional(),
  /** Digests of the deployed files, and of the graphs' variables. */
  deployed: z.string().optional(),
  projectEnv: z.string().optional(),
});
export type UpState = z.infer<typeof upState>;

export function readUpState(folder: string): UpState {
  const file = join(folder, "up.json");
  return existsSync(file) ? upState.parse(JSON.parse(readFileSync(file, "utf8"))) : {};
}

/** Merges a change into the saved state and returns the result. */
export function remember(folder: string, change: UpState): UpState {
  const state = { ...readUpState(folder), ...change };
  const file = join(folder, "up.json");
  makePrivateFolder(folder);
  writeFileSync(`${file}.new`, `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
  return state;
}
