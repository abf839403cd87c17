import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ensureDevVars } from "../scripts/dev-vars.mjs";
import { BUILT, homeOf, settingsFile } from "./installation.ts";

/** Creates the files that the package keeps in a project's folder. In a checkout the set-up script creates them. */
export async function prepareHome(project: string): Promise<void> {
  if (BUILT === undefined) return;
  const home = homeOf(project);
  mkdirSync(home, { recursive: true });
  // The folder holds keys and data, which must not be committed.
  const ignored = join(home, ".gitignore");
  if (!existsSync(ignored)) writeFileSync(ignored, "*\n");
  await ensureDevVars(settingsFile(project));
}
