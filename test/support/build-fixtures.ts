import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { oncePerRun } from "./once-per-run.ts";

const SCRIPT = join(import.meta.dirname, "fixture-builds.ts");

/**
 * The set-up of the suites that start servers. It builds once what the server of each test starts from. This happens
 * in a separate process, because vitest rewrites modules that are loaded in its own, including bundlers and thus their
 * output.
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
