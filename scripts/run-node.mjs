/** Runs a program of this repository under the Node version that it was installed with. */
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import { exitWith, projectEnvironment, REPO_ROOT, SetupError, setUp } from "./setup.mjs";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"];
const PARENT_POLL_MS = 500;
const NEEDED_MAJOR = 24;

/**
 * Sets up the checkout and runs `node <args>`, with this process's terminal and signals. Several commands run
 * one after the other until one fails. This process exits with the last exit code.
 */
export async function runNode(...commands) {
  await setUp().catch(exitWith);
  let code = 0;
  for (const args of commands) {
    if (code === 0) code = await spawnNode(args);
  }
  process.exit(code);
}

function spawnNode(args) {
  const child = spawn(nodePath(), ["--disable-warning=ExperimentalWarning", ...args], {
    stdio: "inherit",
    env: {
      // Node would otherwise compile the same modules at every start. A cached file is replaced when its
      // module changes.
      NODE_COMPILE_CACHE: join(REPO_ROOT, ".threadworks/compile-cache"),
      ...projectEnvironment(),
      THREADWORKS_PARENT_PID: String(process.pid),
    },
  });
  // The program handles signals itself; this process waits for its exit code.
  for (const signal of SIGNALS) process.on(signal, () => child.kill(signal));
  whenNpmEnds(() => child.kill("SIGTERM"));
  return new Promise((done) => {
    child.once("error", (error) =>
      exitWith(new SetupError(`node did not start: ${error.message}`)),
    );
    child.once("exit", (code, signal) => done(code ?? 128 + (constants.signals[signal] ?? 0)));
  });
}

function nodePath() {
  const name = process.platform === "win32" ? "node.exe" : "node";
  const installed = join(REPO_ROOT, "node_modules/node/bin", name);
  if (existsSync(installed)) return installed;
  if (Number(process.versions.node.split(".")[0]) >= NEEDED_MAJOR) return process.execPath;
  return exitWith(
    new SetupError(
      `Node ${NEEDED_MAJOR} is missing from node_modules; remove node_modules and run this again with install scripts allowed`,
    ),
  );
}

/**
 * Calls back when npm, or the shell between npm and this process, is gone: when npm is killed by force, its
 * scripts continue to run and nothing else would end them.
 */
function whenNpmEnds(callback) {
  if (process.env.npm_lifecycle_event === undefined) return;
  const parent = process.ppid;
  const grandparent = isShell(parent) ? parentOf(parent) : undefined;
  const isOrphan = () =>
    process.ppid !== parent || (grandparent !== undefined && parentOf(parent) !== grandparent);
  const timer = setInterval(() => {
    if (!isOrphan()) return;
    clearInterval(timer);
    callback();
  }, PARENT_POLL_MS);
  timer.unref();
}

function isShell(pid) {
  return /^(?:ba|da|z|k)?sh$/.test(processStat(pid)?.name ?? "");
}

function parentOf(pid) {
  return processStat(pid)?.parent;
}

/** Returns what Linux reports about a process; undefined on other systems, or when the process is gone. */
function processStat(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const [, name, parent] = /^\d+ \((.*)\) \S (\d+)/s.exec(stat) ?? [];
    return { name, parent: Number(parent) };
  } catch {
    return undefined;
  }
}
