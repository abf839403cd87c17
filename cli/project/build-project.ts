import { mkdir } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type * as esbuild from "esbuild";
import { REPO_ROOT } from "../invocation.ts";
import { bundleGraphs } from "./bundle-graphs.ts";
import { checkAuth } from "./check-auth.ts";
import { buildUi } from "./build-ui.ts";
import { addSchemas, addUi } from "./entry-module.ts";
import { extractSchemas, type TypedSources } from "./extract-schemas.ts";
import type { LangGraphChoice } from "./langchain-source.ts";
import { loadProjectConfig, type ProjectConfig } from "./langgraph-json.ts";
import {
  importsFileSystem,
  type ProjectFile,
  type ProjectFiles,
  readProjectFiles,
} from "./project-files.ts";
import { requestedBundle } from "./requested-bundle.ts";
import { bundledFiles, bundledModules, isInstalled } from "./workerd-build.ts";

const NO_FILES: ProjectFiles = { files: [], warnings: [] };

export type BuildProjectOptions = {
  /** `langgraph.json`, or the folder that holds it. */
  configPath: string;
  /** The ES module to write. */
  outFile: string;
  /** Whether to write the module's source map beside it; on by default. It takes a third of the bundler's time. */
  sourceMap?: boolean;
  /**
   * Whether to read input, output, state and config schemas from the graphs' TypeScript types, and to put
   * them into the module. Reading takes seconds when they are not cached.
   */
  schemas: boolean;
  /** Called when reading the schemas takes so long that the user should be told. */
  onReadingSchemas?: (() => void) | undefined;
  /** Which LangChain the graphs are built with; the project's own by default. */
  langGraph?: LangGraphChoice;
  /** The module that exports `defineGraphHost`; tests pass a stub. */
  graphHostModule?: string;
  /** Whether to minify everything but names, which stack traces contain. */
  compact?: boolean;
  /** Bundles the graphs; by default in this thread. */
  bundle?: typeof bundleGraphs;
};

export type BuiltProject = {
  graphs: string[];
  /** Whether the project authenticates its users itself. */
  hasAuth: boolean;
  env: Record<string, string>;
  /** The text files that the graphs find below `/bundle`. */
  files: ProjectFile[];
  /** The sources that the schemas are read from, for callers that read them separately. */
  typedSources: TypedSources;
  /** Absolute paths of the files that the result was made from, without installed packages. */
  inputs: string[];
  /** Absolute paths of all files in the module, including those of installed packages. */
  modules: string[];
  /** The names of further modules beside the requested one, which it imports. */
  packageModules: string[];
  /** Whether the graphs may read files; all of the project's text files are then inputs. */
  readsFiles: boolean;
  warnings: string[];
};

/**
 * Bundles a project of graphs into one ES module that exports the class `GraphHost`. Throws a `CliError` that
 * says what is wrong with the project.
 */
export async function buildProject(options: BuildProjectOptions): Promise<BuiltProject> {
  const project = loadProjectConfig(options.configPath);
  const { projectDir } = project;
  const ended = new AbortController();
  await mkdir(dirname(options.outFile), { recursive: true });
  try {
    const {
      metafile,
      packageModules,
      warnings: ofBundle,
    } = await (options.bundle ?? bundleGraphs)(requestedBundle(project, options));
    const warnings = [...project.warnings, ...ofBundle];
    const typedSources = { project, sources: filesOfGraphs(metafile, project) };
    const reading = options.schemas
      ? extractSchemas(typedSources, {
          repoRoot: REPO_ROOT,
          signal: ended.signal,
          onSlow: options.onReadingSchemas,
        })
      : undefined;
    // It is awaited below, unless the build fails before; its rejection must not be unhandled.
    reading?.catch(() => {});
    await checkAuth(project, `${resolve(options.outFile)}.auth-check.mjs`);
    const ui = await buildUi(project);
    if (project.ui !== undefined) await addUi(options.outFile, ui.files);
    const readsFiles = importsFileSystem(metafile);
    const text = readsFiles ? await readProjectFiles(project) : NO_FILES;
    warnings.push(...text.warnings);
    if (reading !== undefined) {
      const extracted = await reading;
      warnings.push(...extracted.warnings);
      await addSchemas(options.outFile, extracted.schemas);
    }
    const envFiles = project.envFile === undefined ? [] : [project.envFile];
    const read = [
      ...bundledFiles(metafile, projectDir),
      ...text.files.map(({ path }) => join(projectDir, path)),
      ...ui.inputs,
    ];
    return {
      graphs: project.graphs.map((graph) => graph.id),
      hasAuth: project.auth !== undefined,
      env: project.env,
      files: text.files,
      typedSources,
      inputs: [...new Set([project.configPath, ...envFiles, ...read])],
      modules: bundledModules(metafile, projectDir),
      packageModules,
      readsFiles,
      warnings,
    };
  } finally {
    ended.abort();
  }
}

/** Returns the project's own files that its graphs import, directly or indirectly. */
function filesOfGraphs(metafile: esbuild.Metafile, project: ProjectConfig): string[] {
  const files = new Map(
    Object.entries(metafile.inputs).map(([path, input]) => [
      resolve(project.projectDir, path),
      input.imports
        .filter(({ external }) => external !== true)
        .map((imported) => resolve(project.projectDir, imported.path)),
    ]),
  );
  const reached = new Set(project.graphs.map(({ file }) => file));
  for (const file of reached) {
    for (const imported of files.get(file) ?? []) {
      if (!isInstalled(imported)) reached.add(imported);
    }
  }
  return [...reached];
}
