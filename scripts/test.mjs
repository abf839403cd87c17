import { existsSync, mkdtempSync, readFileSync, rmSync, statfsSync } from "node:fs";
import { freemem } from "node:os";
import { join } from "node:path";
import { exitWith, REPO_ROOT, setUp } from "./setup.mjs";
import { installPythonClients } from "./python-clients.mjs";
import { runNode } from "./run-node.mjs";

/** What Linux keeps in memory. */
const MEMORY_FOLDER = "/dev/shm";
/** Several times what the files of a whole run take at once. */
const MEMORY_BYTES = 4 * 1024 ** 3;

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

keepFilesInMemory();

// Whoever reads the report must not find that of an earlier run.
rmSync(report, { force: true });
const reporters = [
  "--reporter=default",
  `--reporter=${join(REPO_ROOT, "test/support/slowest-files.ts")}`,
  "--reporter=json",
  `--outputFile.json=${report}`,
];
await runNode([vitest, "run", ...reporters, ...args]);

/**
 * Has the tests' temporary files in memory where there is plenty of it: their servers together would wait for the disk
 * for a third of the time, and nothing of them has to outlast the machine. A `TMPDIR` that is set stays.
 */
function keepFilesInMemory() {
  if (process.env.TMPDIR || !existsSync(MEMORY_FOLDER) || !mayRunPrograms(MEMORY_FOLDER)) return;
  const { bavail, bsize } = statfsSync(MEMORY_FOLDER);
  if (Math.min(bavail * bsize, freemem()) < MEMORY_BYTES) return;
  const folder = mkdtempSync(join(MEMORY_FOLDER, "threadworks-tests-"));
  process.env.TMPDIR = folder;
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
}

/** Containers often forbid it there, and some tests run a copy of this repository in their temporary folder. */
function mayRunPrograms(mountPoint) {
  const mounts = readFileSync("/proc/mounts", "utf8").split("\n");
  const [, , , options] =
    mounts.map((line) => line.split(" ")).find(([, at]) => at === mountPoint) ?? [];
  return options !== undefined && !options.split(",").includes("noexec");
}
