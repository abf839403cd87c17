/**
 * Has the schemas of a project read from its types in an isolate of their own: the bundle of the remote builder has this
 * module in the place of the one that starts a process for it.
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

/** What says how sources are compiled, and where packages that are links have theirs. */
const SETTINGS = /^(?:package|tsconfig.*)\.json$/;
const TYPED = new RegExp(`\\.[cm]?tsx?$|${SETTINGS.source}`);

type Reader = {
  source: Pick<PackageSource, "schemas">;
  /** What is installed, and the folder that has all of the project's own files. */
  plan: Pick<InstallPlan, "packages" | "links"> & { repository: string };
};

/** An isolate builds one project. */
let reader: Reader | null = null;
let areKept = false;

/** Whether the schemas were read from the same types by an earlier build. */
export function schemasAreKept(): boolean {
  return areKept;
}

/** Says who reads the types of the project that is built. */
export function readSchemasBy(source: Reader["source"], plan: Reader["plan"]): void {
  reader = { source, plan };
}

/** The schemas that types say; whatever goes wrong with them is a warning. */
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

/** Null where no graph has types. Throws a `CliError` for sources that are too large. */
function requestOf({ project, sources }: TypedSources, plan: Reader["plan"]): TypesRequest | null {
  const { projectDir } = project;
  const graphs = typedGraphs(project);
  if (graphs.length === 0) return null;
  // Beside files there are modules that the bundler has made.
  const bundled = sources.filter((path) => files.stat(path)?.isFile());
  return {
    sources: packArchive(
      readSome([
        // Files of types only are in no bundle, and only the compiler knows by which names they are imported.
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

/** The first of these choices that is not too large. */
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
