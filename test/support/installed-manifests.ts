import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { cp, mkdir, readdir, readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { installDependencies } from "../../scripts/setup.mjs";

const HASH_CHARS = 16;

/** The files that define a project's dependencies. */
const MANIFESTS = new Set(["package.json", "package-lock.json"]);

/**
 * Installs the packages that the manifests below `source` name, once for each content of the manifests, and returns the
 * folder. It is below `kind` in the user's cache, outside of this repository: inside, a project would find the platform's
 * own packages in a parent folder, and pass without those that it lacks.
 */
export async function installManifests(
  source: string,
  { kind, name }: { kind: string; name: string },
): Promise<string> {
  const manifests = await manifestsBelow(source);
  const hash = createHash("sha256");
  for (const path of manifests) {
    hash.update(`${path}\0`).update(await readFile(join(source, path)));
  }
  const folder = join(cacheFolder(kind), `${name}-${hash.digest("hex").slice(0, HASH_CHARS)}`);
  for (const path of manifests) {
    await mkdir(join(folder, path, ".."), { recursive: true });
    // Another process that installs there at the same time must not find a half-written file.
    if (!existsSync(join(folder, path))) await cp(join(source, path), join(folder, path));
  }
  await installDependencies(folder);
  return folder;
}

async function manifestsBelow(folder: string): Promise<string[]> {
  const paths = await readdir(folder, { recursive: true });
  return paths
    .filter((path) => MANIFESTS.has(path.split("/").at(-1) ?? "") && !path.includes("node_modules"))
    .toSorted();
}

function cacheFolder(kind: string): string {
  const caches = process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache");
  return join(caches, "threadworks", kind);
}
