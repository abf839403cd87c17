import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ensureDevVars } from "../scripts/dev-vars.mjs";
import { BUILT, homeOf, settingsFile } from "./installation.ts";

/** Makes what the package keeps in a project's folder. A checkout has it from its set-up. */
export async function prepareHome(project: string): Promise<void> {
  if (BUILT === undefined) return;
  const home = homeOf(project);
  mkdirSync(home, { recursive: true });
  // It holds keys and data: no repository is to take it up.
  const ignored = join(home, ".gitignore");
  if (!existsSync(ignored)) writeFileSync(ignored, "*\n");
  await ensureDevVars(settingsFile(project));
}
