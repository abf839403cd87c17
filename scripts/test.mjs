import { rmSync } from "node:fs";
import { join } from "node:path";
import { REPO_ROOT } from "./setup.mjs";
import { runNode } from "./run-node.mjs";

const vitest = join(REPO_ROOT, "node_modules/vitest/vitest.mjs");
const report = join(REPO_ROOT, ".threadworks/test-report.json");

rmSync(report, { force: true });
await runNode([
  vitest,
  "run",
  "--reporter=default",
  "--reporter=json",
  `--outputFile.json=${report}`,
  ...process.argv.slice(2),
]);
