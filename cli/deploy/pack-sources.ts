import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import ignore from "ignore";
import { BYTES_PER_MB } from "../../src/lib/bytes.ts";
import { MAX_TARBALL_BYTES } from "../../src/lib/project-manifest.ts";
import { CliError } from "../cli-error.ts";
import { filesBelow } from "../project/project-files.ts";
import { loadProjectConfig } from "../project/langgraph-json.ts";
import { pack } from "../project/tarball.ts";

/**
 * Files that are never uploaded, whatever a `.gitignore` says: packages, Git's own files, and names that
 * suggest secrets.
 */
const NEVER = ignore().add([
  "node_modules/",
  ".git/",
  ".env",
  ".env.*",
  ".threadworks/",
  "*credential*",
  "*secret*",
  "*service-account*",
  "*service_account*",
]);

const LOCKFILES = ["package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "yarn.lock"];

export type PackedSources = {
  bytes: Uint8Array;
  /** The folder that was packed. */
  root: string;
  files: number;
  /** The path of `langgraph.json` in the archive. */
  configPath: string;
};

/**
 * Packs the sources of a project for the platform to build: the folder with the project's lockfile, which may
 * be above the project's own. Throws a `CliError` when there is no lockfile, or when the archive is too
 * large.
 */
export async function packSources(config: string): Promise<PackedSources> {
  const { configPath, projectDir } = loadProjectConfig(config);
  const root = folderOfLockfile(projectDir);
  const contents: Record<string, Uint8Array> = {};
  for await (const path of filesBelow(root, NEVER)) {
    contents[path] = await readFile(join(root, path));
  }
  const bytes = await pack(contents);
  if (bytes.length > MAX_TARBALL_BYTES) {
    const { name, size } = largestEntry(contents);
    throw new CliError(
      `the sources below ${root} are too large: ${megabytes(bytes.length)} MB compressed, and ${megabytes(MAX_TARBALL_BYTES)} MB are the most; ${name} alone has ${megabytes(size)} MB. Exclude files that are not sources with .gitignore, or build on this machine with --build local`,
    );
  }
  const inRoot = relative(root, configPath).split(sep).join("/");
  return { bytes, root, files: Object.keys(contents).length, configPath: inRoot };
}

function megabytes(size: number): string {
  return (size / BYTES_PER_MB).toFixed(1);
}

/** Returns the file or folder at the top that has most bytes, which are not compressed. */
function largestEntry(contents: Readonly<Record<string, Uint8Array>>): {
  name: string;
  size: number;
} {
  const sizes = new Map<string, number>();
  for (const [path, { length }] of Object.entries(contents)) {
    const [name = path] = path.split("/");
    sizes.set(name, (sizes.get(name) ?? 0) + length);
  }
  const [name, size] = [...sizes].reduce((largest, entry) =>
    entry[1] > largest[1] ? entry : largest,
  );
  return { name, size };
}

function folderOfLockfile(projectDir: string): string {
  for (let folder = projectDir; ; folder = dirname(folder)) {
    if (LOCKFILES.some((name) => existsSync(join(folder, name)))) return folder;
    if (dirname(folder) === folder) break;
  }
  throw new CliError(
    `neither ${projectDir} nor a folder above it has a lockfile, which says what the platform is to install: run npm install`,
  );
}
