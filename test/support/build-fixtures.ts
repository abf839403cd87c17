import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { oncePerRun } from "./once-per-run.ts";

const SCRIPT = join(import.meta.dirname, "fixture-builds.ts");

/**
 * The set-up of the suites that start servers: builds once what each server of a test starts from. It does so in a
 * process of its own, because vitest rewrites what is loaded in its own: bundlers, too, and so what they make.
 */
export default async function buildFixtures(): Promise<void> {
  await oncePerRun("fixtures", async () => {
    const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", SCRIPT], {
      stdio: ["ignore", "ignore", "inherit"],
    });
    const [code] = await once(child, "exit");
    if (code !== 0) throw new Error(`The fixtures did not build: ${SCRIPT} ended with ${code}`);
  });
}
