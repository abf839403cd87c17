import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { exitWith, REPO_ROOT, setUp } from "./setup.mjs";
import { installPythonClients } from "./python-clients.mjs";
import { runNode } from "./run-node.mjs";

const vitest = join(REPO_ROOT, "node_modules/vitest/vitest.mjs");
const report = join(REPO_ROOT, ".threadworks/test-report.json");
const args = process.argv.slice(2);

const selectsFiles = args.some((arg) => !arg.startsWith("-"));
const browser = selectsFiles
  ? args.some((arg) => arg.includes("browser"))
  : existsSync(join(REPO_ROOT, "test/browser"));
await setUp({ browser }).catch(exitWith);
const python = selectsFiles ? args.some((arg) => arg.includes("python")) : true;
const { missing } = python ? await installPythonClients() : {};
if (missing !== undefined) {
  process.stderr.write(`[setup] The tests of the Python clients are skipped: ${missing}\n`);
}

// Whoever reads the report must not find that of an earlier run.
rmSync(report, { force: true });
const reporters = [
  "--reporter=default",
  `--reporter=${join(REPO_ROOT, "test/support/slowest-files.ts")}`,
  "--reporter=json",
  `--outputFile.json=${report}`,
];
await runNode([vitest, "run", ...reporters, ...args]);
