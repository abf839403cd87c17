/**
 * Installs the Python clients that `test/python` runs into a separate environment. Without Python or its
 * packages these tests are skipped: nothing here fails for that reason.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { REPO_ROOT, run, withLock } from "./setup.mjs";

const INSTALL_TIMEOUT_MS = 5 * 60_000;
const VERSION_TIMEOUT_MS = 10_000;
const NEEDED_MINOR = 10;

/** A single retry, because retries wait longer each time, for each package, when pip's index cannot be reached. */
const PIP_OPTIONS = "--no-deps --no-input --disable-pip-version-check --quiet --retries 1".split(
  " ",
);

/** Returns the interpreter that has the clients; undefined until `installPythonClients` has installed them. */
export function findPythonClients(root = REPO_ROOT) {
  const system = findPython();
  if (system === undefined) return undefined;
  const home = homeOf(root, system);
  return existsSync(markerOf(home)) ? interpreterOf(home) : undefined;
}

/** Returns `{ python }`, the interpreter that has the clients, or `{ missing }`, the reason why there is none. */
export async function installPythonClients(root = REPO_ROOT) {
  const system = findPython();
  if (system === undefined) return { missing: `there is no Python 3.${NEEDED_MINOR} or later` };
  const home = homeOf(root, system);
  try {
    await withLock(join(root, ".threadworks/python.lock"), async () => {
      if (!existsSync(markerOf(home))) await install(root, system.file, home);
    });
    return { python: interpreterOf(home) };
  } catch (error) {
    await rm(home, { recursive: true, force: true });
    return { missing: reasonOf(error) };
  }
}

async function install(root, python, home) {
  process.stderr.write("[setup] Installing the Python clients for their tests ...\n");
  await rm(home, { recursive: true, force: true });
  const deadline = Date.now() + INSTALL_TIMEOUT_MS;
  const step = (file, args, what) =>
    run(file, args, { output: "kept", timeoutMs: Math.max(deadline - Date.now(), 1), what });
  await step(python, ["-m", "venv", home], "python -m venv");
  const installed = interpreterOf(home);
  const pip = (requirements) =>
    step(
      installed,
      ["-m", "pip", "install", ...PIP_OPTIONS, "-r", join(root, requirements)],
      "pip install",
    );
  await pip("test/python/requirements.txt");
  try {
    await pip("test/python/requirements-types.txt");
  } catch {
    // The stand-in is used instead.
  }
  await writeFile(join(await sitePackagesOf(home), "stand-ins.pth"), standInsOf(root));
  await writeFile(markerOf(home), "");
}

/**
 * Returns the contents of a .pth file. Its paths are searched last, so that a real package takes precedence
 * over its stand-in.
 */
function standInsOf(root) {
  return `${join(root, "test/python/stand-ins")}\n`;
}

async function sitePackagesOf(home) {
  if (process.platform === "win32") return join(home, "Lib/site-packages");
  const [version] = await readdir(join(home, "lib"));
  return join(home, "lib", version, "site-packages");
}

function findPython() {
  for (const file of ["python3", "python"]) {
    const { status, stdout } = spawnSync(file, ["--version"], {
      encoding: "utf8",
      timeout: VERSION_TIMEOUT_MS,
    });
    const [, version, minor] = /^Python (3\.(\d+)\.\S+)/.exec(stdout ?? "") ?? [];
    if (status === 0 && Number(minor) >= NEEDED_MINOR) return { file, version };
  }
  return undefined;
}

/**
 * Returns the environment's folder. Its name is a digest of the requirements and the Python version, so that
 * a change of either makes a new environment.
 */
function homeOf(root, { version }) {
  const hash = createHash("sha256").update(version);
  for (const name of ["requirements.txt", "requirements-types.txt"]) {
    hash.update(readFileSync(join(root, "test/python", name)));
  }
  return join(root, ".threadworks/python", hash.digest("hex").slice(0, 16));
}

function interpreterOf(home) {
  return join(home, process.platform === "win32" ? "Scripts/python.exe" : "bin/python");
}

function markerOf(home) {
  return join(home, "installed");
}

/** Returns the last error line of pip's output, or else the error's own message. */
function reasonOf(error) {
  const lines = (error.output ?? "").split("\n").filter((line) => line.startsWith("ERROR"));
  return lines.at(-1)?.trim() ?? error.message;
}
