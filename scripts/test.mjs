import { existsSync, mkdtempSync, readFileSync, rmSync, statfsSync } from "node:fs";
import { freemem } from "node:os";
import { join } from "node:path";
import { exitWith, REPO_ROOT, setUp } from "./setup.mjs";
import { installPythonClients } from "./python-clients.mjs";
import { runNode } from "./run-node.mjs";

/** A folder that Linux keeps in memory. */
const MEMORY_FOLDER = "/dev/shm";
/** Several times the size of all files of a complete test run. */
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

// The report of an earlier run is removed, so that it is not mistaken for that of this run.
rmSync(report, { force: true });
const reporters = [
  "--reporter=default",
  `--reporter=${join(REPO_ROOT, "test/support/slowest-files.ts")}`,
  "--reporter=json",
  `--outputFile.json=${report}`,
];
await runNode([vitest, "run", ...reporters, ...args]);

/**
 * Puts the tests' temporary files in memory when enough of it is free: the test servers together would spend
 * a third of the time waiting for the disk, and the files need not survive a restart. A `TMPDIR` that is set
 * already is kept.
 */
function keepFilesInMemory() {
  if (process.env.TMPDIR || !existsSync(MEMORY_FOLDER) || !mayRunPrograms(MEMORY_FOLDER)) return;
  const { bavail, bsize } = statfsSync(MEMORY_FOLDER);
  if (Math.min(bavail * bsize, freemem()) < MEMORY_BYTES) return;
  const folder = mkdtempSync(join(MEMORY_FOLDER, "threadworks-tests-"));
  process.env.TMPDIR = folder;
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
}

/**
 * Returns whether programs may run from a mount point. Containers often forbid it for this one, and some
 * tests run a copy of this repository in their temporary folder.
 */
function mayRunPrograms(mountPoint) {
  const mounts = readFileSync("/proc/mounts", "utf8").split("\n");
  const [, , , options] =
    mounts.map((line) => line.split(" ")).find(([, at]) => at === mountPoint) ?? [];
  return options !== undefined && !options.split(",").includes("noexec");
}
