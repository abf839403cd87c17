import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { packTar } from "modern-tar";
import { BYTES_PER_MB } from "../../src/lib/bytes.ts";
import {
  MANIFEST_FILE,
  MAX_TARBALL_BYTES,
  MAX_UNPACKED_BYTES,
  RUNTIME_VERSION,
  type ProjectManifest,
} from "../../src/lib/project-manifest.ts";
import { CliError } from "../cli-error.ts";
import { buildProject } from "./build-project.ts";
import { keepOwnPositions } from "./source-positions.ts";
import type { LangGraphChoice } from "./langchain-source.ts";
import { loadProjectConfig } from "./langgraph-json.ts";

/** The project's configuration always has this name in the tarball. */
export const CONFIG_IN_TARBALL = "langgraph.json";

/** This differs from the name of the built-in project's module, which has a different source map. */
const MAIN_MODULE = "deployment.js";
export type BuildTarballOptions = {
  /** `langgraph.json`, or the folder that holds it. */
  configPath: string;
  /** Whether to read schemas from the graphs' TypeScript types; on by default. */
  schemas?: boolean;
  /** Which LangChain the graphs are built with; the project's own by default. */
  langGraph?: LangGraphChoice;
  /** Called when reading the schemas takes so long that the user should be told. */
  onReadingSchemas?: () => void;
  /** The module that exports `defineGraphHost`; tests pass a stub. */
  graphHostModule?: string;
};

export type BuiltTarball = {
  /** A gzipped tar archive. Its bytes are the same for the same project and the same versions of the build tools. */
  bytes: Uint8Array;
  manifest: ProjectManifest;
  /** The files in the order in which they are packed, with their sizes in bytes. */
  files: { path: string; size: number }[];
  graphs: string[];
  /** The variables of `langgraph.json`, which the archive does not contain. */
  env: Record<string, string>;
  warnings: string[];
};

/**
 * Builds a project into the archive that a platform deploys. Throws a `CliError` when the project does not
 * build, or is too large.
 */
export async function buildTarball(options: BuildTarballOptions): Promise<BuiltTarball> {
  const { configPath } = loadProjectConfig(options.configPath);
  const buildDir = await mkdtemp(join(tmpdir(), "threadworks-build-"));
  try {
    const outFile = join(buildDir, MAIN_MODULE);
    const {
      graphs,
      env,
      warnings,
      files: texts,
      packageModules,
    } = await buildProject({
      configPath,
      outFile,
      schemas: options.schemas ?? true,
      onReadingSchemas: options.onReadingSchemas,
      compact: true,
      langGraph: options.langGraph ?? "project",
      ...(options.graphHostModule === undefined
        ? {}
        : { graphHostModule: options.graphHostModule }),
    });
    await keepOwnPositions(outFile, dirname(configPath));
    const manifest: ProjectManifest = { format: 1, runtime: RUNTIME_VERSION, main: MAIN_MODULE };
    const contents = {
      [MANIFEST_FILE]: toBytes(`${JSON.stringify(manifest, null, 2)}\n`),
      [CONFIG_IN_TARBALL]: toBytes(withoutValues(await readFile(configPath, "utf8"))),
      [MAIN_MODULE]: await readFile(outFile),
      [`${MAIN_MODULE}.map`]: await readFile(`${outFile}.map`),
      ...Object.fromEntries(
        await Promise.all(
          packageModules.map(async (name) => [name, await readFile(join(buildDir, name))] as const),
        ),
      ),
      ...Object.fromEntries(texts.map(({ path, text }) => [path, toBytes(text)])),
    };
    const files = Object.entries(contents).map(([path, { length }]) => ({ path, size: length }));
    const unpacked = files.reduce((total, { size }) => total + size, 0);
    assertFits("unpacked", unpacked, MAX_UNPACKED_BYTES);
    const bytes = await pack(contents);
    assertFits("compressed", bytes.length, MAX_TARBALL_BYTES);
    return { bytes, manifest, files, graphs, env, warnings };
  } finally {
    await rm(buildDir, { recursive: true, force: true });
  }
}

export async function pack(contents: Record<string, Uint8Array>): Promise<Uint8Array> {
  const archive = await packTar(
    Object.entries(contents).map(([name, body]) => ({
      header: { name, size: body.length, mode: 0o644, mtime: new Date(0) },
      body,
    })),
  );
  return promisify(gzip)(archive);
}

/** Removes the values of `env`, which may be secrets: they are sent as the deployment's secrets, or not at all. */
function withoutValues(configText: string): string {
  const config = JSON.parse(configText) as { env?: unknown };
  if (typeof config.env === "object") delete config.env;
  return `${JSON.stringify(config, null, 2)}\n`;
}

function assertFits(how: string, size: number, limit: number): void {
  if (size <= limit) return;
  const [is, most] = [size, limit].map((bytes) => `${(bytes / BYTES_PER_MB).toFixed(1)} MB`);
  throw new CliError(`the built project is too large: ${is} ${how}, and ${most} are the most`);
}

function toBytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
