import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { makePrivateFolder } from "../platform/private-folder.ts";

/** What `up` remembers of an installation, so that a repeated one goes on where another was ended. */
const upState = z.object({
  /** The first workspace and its key: chosen before they are stored there, so that a second try stores the same. */
  workspaceId: z.string().optional(),
  apiKey: z.string().optional(),
  url: z.string().optional(),
  /** Digests of what was deployed, and of the variables of its graphs. */
  deployed: z.string().optional(),
  projectEnv: z.string().optional(),
});
export type UpState = z.infer<typeof upState>;

export function readUpState(folder: string): UpState {
  const file = join(folder, "up.json");
  return existsSync(file) ? upState.parse(JSON.parse(readFileSync(file, "utf8"))) : {};
}

/** Adds to what is remembered. */
export function remember(folder: string, change: UpState): UpState {
  const state = { ...readUpState(folder), ...change };
  const file = join(folder, "up.json");
  makePrivateFolder(folder);
  writeFileSync(`${file}.new`, `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
  return state;
}
