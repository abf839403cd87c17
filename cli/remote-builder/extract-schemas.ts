/**
 * Reads the schemas of a project from its types in a separate isolate. In the bundle of the remote builder
 * this module replaces the one that starts a process for it.
 */
import { join } from "node:path";
import { BYTES_PER_MB } from "../../src/lib/bytes.ts";
import { packArchive } from "../../src/lib/package-archive.ts";
import type { PackageSource } from "../../src/lib/remote-build.ts";
import {
  MAX_TYPED_SOURCE_BYTES,
  type ReadSchemas,
  type TypesRequest,
} from "../../src/lib/remote-types.ts";
import { CliError } from "../cli-error.ts";
import type { TypedSources } from "../project/extract-schemas.ts";
import { describeProblem, typedGraphs } from "../project/schema-answer.ts";
import { withTypeOnlyImports } from "../project/type-imports.ts";
import type { InstallPlan } from "./lockfile.ts";
import { files } from "./node-fs.ts";

/** Files that determine how sources are compiled, and where linked packages have theirs. */
const SETTINGS = /^(?:package|tsconfig.*)\.json$/;
const TYPED = new RegExp(`\\.[cm]?tsx?$|${SETTINGS.source}`);

type Reader = {
  source: Pick<PackageSource, "schemas">;
  /** The installed packages, and the folder that has all of the project's own files. */
  plan: Pick<InstallPlan, "packages" | "links"> & { repository: string };
};

/** The reader to use; an isolate builds one project. */
let reader: Reader | null = null;
let areKept = false;

/** Returns whether the schemas were taken from an earlier build with the same types. */
export function schemasAreKept(): boolean {
  return areKept;
}

/** Sets the service that reads the types of the project that is built. */
export function readSchemasBy(source: Reader["source"], plan: Reader["plan"]): void {
  reader = { source, plan };
}

/** Returns the schemas of the types. Every failure is a warning. */
export async function extractSchemas(typed: TypedSources): Promise<ReadSchemas> {
  if (reader === null) return { schemas: {}, warnings: [] };
  try {
    const request = requestOf(typed, reader.plan);
    if (request === null) return { schemas: {}, warnings: [] };
    const { isKept, ...read } = await reader.source.schemas(request);
    areKept = isKept;
    return read;
  } catch (error) {
    return {
      schemas: {},
      warnings: [describeProblem(error instanceof CliError ? error.message : String(error))],
    };
  }
}

/** Returns null when no graph has types. Throws a `CliError` when the sources are too large. */
function requestOf({ project, sources }: TypedSources, plan: Reader["plan"]): TypesRequest | null {
  const { projectDir } = project;
  const graphs = typedGraphs(project);
  if (graphs.length === 0) return null;
  // Sources also contain modules that the bundler generated.
  const bundled = sources.filter((path) => files.stat(path)?.isFile());
  return {
    sources: packArchive(
      readSome([
        // Files with types only are in no bundle, and only the compiler resolves the names by which they are
        // imported.
        [...bundled, ...filesIn(plan.repository, TYPED)],
        [...withTypeOnlyImports(bundled), ...filesIn(plan.repository, SETTINGS)],
      ]),
    ),
    projectDir,
    graphs: graphs.map(({ id, file, exportName }) => ({ id, file, exportName })),
    packages: plan.packages,
    links: plan.links,
  };
}

/** Reads the first of these sets of files that is not too large. */
function readSome(choices: string[][]): { path: string; bytes: Uint8Array }[] {
  for (const paths of choices) {
    const sorted = [...new Set(paths)].toSorted();
    const size = sorted.reduce((total, path) => total + (files.stat(path)?.size ?? 0), 0);
    if (size <= MAX_TYPED_SOURCE_BYTES) {
      return sorted.map((path) => ({ path, bytes: files.read(path) }));
    }
  }
  const megabytes = MAX_TYPED_SOURCE_BYTES / BYTES_PER_MB;
  throw new CliError(`the sources of the graphs have more than ${megabytes} MB`);
}

function* filesIn(folder: string, named: RegExp): Generator<string> {
  for (const { name, kind } of files.names(folder)) {
    const path = join(folder, name);
    if (kind === "folder" && name !== "node_modules") yield* filesIn(path, named);
    if (kind === "file" && named.test(name)) yield path;
  }
}
