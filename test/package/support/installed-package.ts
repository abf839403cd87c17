import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { templateManifest } from "../../../cli/init/template-manifest.ts";
import { run, withLock } from "../../../scripts/setup.mjs";

const REPO_ROOT = resolve(import.meta.dirname, "../../..");
const BUILT = join(REPO_ROOT, "dist/package");
const TIMEOUT_MS = 10 * 60_000;
const HASH_CHARS = 16;

/**
 * Builds the package, packs it, and installs it in a folder outside of this repository: inside, it would find the
 * repository's packages. Its dependencies are installed once for each content of its manifest.
 */
export default async function installPackage(): Promise<void> {
  const build = join(REPO_ROOT, "cli/package/build-package.ts");
  await step("the build", process.execPath, ["--disable-warning=ExperimentalWarning", build]);
  const { installed, tarball, user } = installedPackage();
  mkdirSync(installed, { recursive: true });
  await withLock(join(installed, "install.lock"), async () => {
    await step("npm pack", "npm", ["pack", "--silent", "--pack-destination", installed, BUILT]);
    await install(installed, { tarball, user });
  });
}

/** Returns the folder whose `node_modules` has the package and the dependencies of the template of `init`. */
export function installedPackage(): {
  installed: string;
  tarball: string;
  version: string;
  user: object;
} {
  const manifest = readFileSync(join(BUILT, "package.json"), "utf8");
  const { version } = JSON.parse(manifest) as { version: string };
  const { devDependencies: _, ...user } = templateManifest("user", version) as {
    devDependencies: object;
  };
  const hash = createHash("sha256").update(manifest).update(JSON.stringify(user));
  const installed = join(cacheFolder(), hash.digest("hex").slice(0, HASH_CHARS));
  return { installed, tarball: join(installed, `threadworks-${version}.tgz`), version, user };
}

/** Returns the folder of the package that `npm init threadworks` fetches. */
export function createPackage(): string {
  return join(REPO_ROOT, "dist/create-threadworks");
}

async function install(
  folder: string,
  { tarball, user }: { tarball: string; user: object },
): Promise<void> {
  const done = join(folder, "installed");
  const unpacked = join(folder, "node_modules/threadworks");
  if (existsSync(done)) {
    rmSync(unpacked, { recursive: true, force: true });
    mkdirSync(unpacked);
    await step("tar", "tar", ["-xzf", tarball, "-C", unpacked, "--strip-components=1"]);
    return;
  }
  writeFileSync(join(folder, "package.json"), JSON.stringify(user));
  const options = ["--no-audit", "--no-fund", "--loglevel=error", "--prefer-offline"];
  await step("npm install", "npm", ["install", tarball, ...options], folder);
  writeFileSync(done, "");
}

function step(what: string, file: string, args: string[], cwd = REPO_ROOT): Promise<void> {
  return run(file, args, { cwd, timeoutMs: TIMEOUT_MS, what }) as Promise<void>;
}

function cacheFolder(): string {
  const caches = process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache");
  return join(caches, "threadworks", "package");
}

/** Returns the oldest Node on this machine that the package supports: this repository's own is newer than most. */
export function oldestNode(): { folder: string; version: string } {
  const folders = (process.env["PATH"] ?? "").split(":").filter((path) => path !== "");
  const found = [...new Set(folders)].flatMap((folder) => {
    const file = join(folder, "node");
    if (!existsSync(file)) return [];
    const version = spawnSync(file, ["--version"], { encoding: "utf8" }).stdout.trim().slice(1);
    return numberOf(version) < 20.16 ? [] : [{ folder, version }];
  });
  const [oldest] = found.toSorted((a, b) => numberOf(a.version) - numberOf(b.version));
  if (oldest === undefined) throw new Error("There is no Node.js on the PATH");
  return oldest;
}

function numberOf(version: string): number {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major + minor / 100;
}
