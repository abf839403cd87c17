/**
 * Prepares a checkout: installs the dependencies, and writes the settings of a local platform. This runs
 * before anything is installed, on any Node from 20 on, so it has no dependencies.
 */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, open, readFile, rm, writeFile } from "node:fs/promises";
import { constants } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { ensureDevVars } from "./dev-vars.mjs";

export const REPO_ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "..");

const INSTALL_TIMEOUT_MS = 15 * 60_000;
const BROWSER_TIMEOUT_MS = 10 * 60_000;
const LOCK_POLL_MS = 500;
const BROWSERS = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** A failure that is fully explained by its message. */
export class SetupError extends Error {}

/** Installs the dependencies in package-lock.json, unless exactly those are installed. */
export async function installDependencies(root = REPO_ROOT) {
  if (await isInstalled(root)) return;
  await withLock(join(root, ".threadworks/setup.lock"), async () => {
    if (await isInstalled(root)) return;
    say("Installing dependencies; this takes a minute or two ...");
    await npmInstall(root);
    await writeMarker(root);
    say("Dependencies are installed.");
  });
}

async function npmInstall(root) {
  const npm = npmCommand();
  // Development dependencies are needed to run the platform, even when NODE_ENV is "production".
  const options = ["--include=dev", "--no-audit", "--no-fund", "--loglevel=error"];
  const deadline = Date.now() + INSTALL_TIMEOUT_MS;
  const attempt = (command, output, extra = []) =>
    run(npm.file, [...npm.args, command, ...options, ...extra], {
      cwd: root,
      output,
      timeoutMs: deadline - Date.now(),
      what: `npm ${command}`,
    });

  if (!existsSync(join(root, "package-lock.json"))) {
    await attempt("install", "shown");
    return;
  }
  try {
    await attempt("ci", "kept");
  } catch (error) {
    // `npm ci` refuses a lockfile without the binaries of other platforms, and behind a registry mirror npm
    // writes only such lockfiles. `npm install` installs the same versions from it.
    if (!error.output?.includes("EUSAGE")) {
      process.stderr.write(error.output ?? "");
      throw error;
    }
    await attempt("install", "shown", ["--no-save"]);
  }
}

async function isInstalled(root) {
  if (!existsSync(join(root, "node_modules"))) return false;
  const lockfile = await readIfExists(join(root, "package-lock.json"));
  if (lockfile === undefined) return existsSync(join(root, "node_modules/.package-lock.json"));
  if ((await readIfExists(markerPath(root))) === digest(lockfile)) return true;
  // The user may have run npm by hand, so npm's own record of what it installed decides.
  if (!(await matchesInstalled(root, lockfile))) return false;
  await writeMarker(root);
  return true;
}

async function matchesInstalled(root, lockfile) {
  const installed = await readIfExists(join(root, "node_modules/.package-lock.json"));
  if (installed === undefined) return false;
  const wanted = JSON.parse(lockfile).packages ?? {};
  const present = JSON.parse(installed).packages ?? {};
  return Object.entries(wanted).every(([path, entry]) => {
    // The root, workspaces, and packages for other platforms are not in npm's own record.
    if (!path.includes("node_modules/") || entry.link || entry.optional || entry.peer) return true;
    return present[path]?.version === entry.version;
  });
}

function markerPath(root) {
  return join(root, "node_modules/.threadworks-lock");
}

async function writeMarker(root) {
  const lockfile = await readIfExists(join(root, "package-lock.json"));
  if (lockfile !== undefined) await writeFile(markerPath(root), digest(lockfile));
}

function digest(text) {
  return createHash("sha256").update(text).digest("hex");
}

/** Returns the npm that runs this script, or the one on the PATH. */
function npmCommand() {
  const cli = process.env.npm_execpath;
  if (cli !== undefined && /npm-cli\.[cm]?js$/.test(cli) && existsSync(cli)) {
    return { file: process.execPath, args: [cli] };
  }
  return { file: process.platform === "win32" ? "npm.cmd" : "npm", args: [] };
}

/** Returns the path of a Chromium. Installs it when this machine has none and is a Debian. */
export async function ensureBrowser() {
  const configured = process.env.CHROMIUM_PATH;
  if (configured !== undefined && configured !== "") {
    if (existsSync(configured)) return configured;
    throw new SetupError(`CHROMIUM_PATH names ${configured}, which does not exist`);
  }
  const found = findBrowser();
  if (found !== undefined) return found;
  if (!existsSync("/usr/bin/apt-get")) {
    throw new SetupError("there is no Chromium: install one, and set CHROMIUM_PATH to its path");
  }
  say("Installing Chromium for the browser tests ...");
  const sudo = process.getuid?.() === 0 ? [] : ["sudo", "-n"];
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const deadline = Date.now() + BROWSER_TIMEOUT_MS;
  for (const step of [["update"], ["install", "-y", "--no-install-recommends", "chromium"]]) {
    const [file, ...args] = [...sudo, "apt-get", ...step];
    const options = {
      env,
      timeoutMs: Math.max(deadline - Date.now(), 1),
      what: `apt-get ${step[0]}`,
    };
    await run(file, args, options);
  }
  const installed = findBrowser();
  if (installed === undefined) throw new SetupError("apt-get installed no Chromium");
  return installed;
}

function findBrowser() {
  return BROWSERS.find((path) => existsSync(path));
}

/** Sets up everything that a checkout needs to run. */
export async function setUp({ browser = false } = {}) {
  await installDependencies();
  const added = await ensureDevVars(join(REPO_ROOT, ".dev.vars"));
  if (added.length > 0) say(`Wrote ${added.join(", ")} to .dev.vars.`);
  if (browser) process.env.CHROMIUM_PATH = await ensureBrowser();
}

/**
 * Runs a command to its end. Its output goes to stderr, because stdout belongs to the program that is set up,
 * or is kept for the error's `output`.
 */
export function run(
  file,
  args,
  { cwd = REPO_ROOT, env = process.env, output = "shown", timeoutMs, what },
) {
  return new Promise((succeed, fail) => {
    const stdio = output === "shown" ? ["ignore", 2, 2] : ["ignore", "pipe", "pipe"];
    const child = spawn(file, args, { cwd, env, stdio, detached: true });
    let kept = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding("utf8").on("data", (text) => (kept += text));
    }
    const killAll = (signal) => {
      try {
        process.kill(-child.pid, signal);
      } catch {
        // The group has ended already.
      }
    };
    // Several commands may run: the first handler that is called ends this process, and with it all of them.
    const onExit = () => killAll("SIGTERM");
    const onSignal = (signal) => {
      killAll(signal);
      process.exit(128 + constants.signals[signal]);
    };
    const timer = setTimeout(() => {
      killAll("SIGKILL");
      end(new SetupError(`${what} took too long and was stopped`));
    }, timeoutMs);
    const end = (error) => {
      clearTimeout(timer);
      for (const signal of ["SIGINT", "SIGTERM"]) process.off(signal, onSignal);
      process.off("exit", onExit);
      if (error === undefined) succeed();
      else fail(Object.assign(error, { output: kept }));
    };
    for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, onSignal);
    process.on("exit", onExit);
    child.once("error", (error) => end(new SetupError(`${what} did not start: ${error.message}`)));
    child.once("close", (code, signal) => {
      if (code === 0) end();
      else end(new SetupError(`${what} failed (${signal ?? `exit code ${code}`}); see above`));
    });
  });
}

/** Lets one process at a time do the work. The lock of a process that died is taken over. */
export async function withLock(path, work) {
  await mkdir(dirname(path), { recursive: true });
  for (let waited = false; ; waited = true) {
    try {
      const file = await open(path, "wx");
      await file.writeFile(String(process.pid));
      await file.close();
      break;
    } catch (error) {
      if (error.code !== "EEXIST") throw error;
    }
    const owner = Number(await readIfExists(path));
    if (owner > 0 && !isAlive(owner)) {
      await rm(path, { force: true });
      continue;
    }
    if (!waited) say(`Waiting for the installation that process ${owner} is doing ...`);
    await new Promise((done) => setTimeout(done, LOCK_POLL_MS));
  }
  try {
    return await work();
  } finally {
    await rm(path, { force: true });
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}

async function readIfExists(path) {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (error.code === "ENOENT") return undefined;
    throw error;
  }
}

function say(message) {
  process.stderr.write(`[setup] ${message}\n`);
}

/** Prints the error and ends this process; for a `SetupError` it prints only the message. */
export function exitWith(error) {
  process.stderr.write(`[setup] ${error instanceof SetupError ? error.message : error.stack}\n`);
  process.exit(1);
}

/** Returns the environment with the project's own programs first on the PATH. */
export function projectEnvironment() {
  const bin = join(REPO_ROOT, "node_modules/.bin");
  return { ...process.env, PATH: [bin, process.env.PATH].filter(Boolean).join(delimiter) };
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  await setUp({ browser: process.argv.includes("--browser") }).catch(exitWith);
}
