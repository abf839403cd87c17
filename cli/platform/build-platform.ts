import { rmSync } from "node:fs";
import { join } from "node:path";
import { BUILT, CONSOLE_FOLDER, settingsFile } from "../installation.ts";
import type { BuildProjectOptions, BuiltProject } from "../project/build-project.ts";
import { bundleInThread } from "../project/bundle-in-thread.ts";
import type { LangGraphChoice } from "../project/langchain-source.ts";
import { loadProjectConfig, type ProjectConfig } from "../project/langgraph-json.ts";
import type { ProjectFile } from "../project/project-files.ts";
import { requestedBundle } from "../project/requested-bundle.ts";
import { resolvedBy, toolFiles } from "./build-inputs.ts";
import { unlessUnchanged } from "./build-record.ts";
import type { SharedBuild } from "./build-shared.ts";
import { LateSourceMap } from "./late-source-map.ts";
import { type MapFrames, sourceMapper } from "./stack-frames.ts";
import { PROJECT_MODULE, workerModules, type WorkerModule } from "./worker-modules.ts";
import { makePrivateFolder } from "./private-folder.ts";
import type { WorkerConfig } from "./worker-options.ts";

export type BuildOptions = {
  repoRoot: string;
  /** The project's `langgraph.json`, or its folder. */
  configPath: string;
  /** The Worker's entry module, in place of wrangler.toml's `main`. */
  workerMain?: string;
  langGraph?: LangGraphChoice;
  graphHostModule?: string;
};

export type Build = {
  config: WorkerConfig;
  project: BuiltProject;
  modules: WorkerModule[];
  /** The folder of the console's files. */
  consoleFolder: string;
  /** Source files that a developer may edit. */
  inputs: string[];
  /** The source map of the project's module. */
  sourceMap: LateSourceMap;
  mapFrames: MapFrames;
};

/**
 * Bundles the project into `buildDir`, and the Worker and the console for all platforms of a checkout. Each
 * is only bundled again when something has changed.
 */
export async function buildPlatform(
  options: BuildOptions,
  config: WorkerConfig,
  buildDir: string,
): Promise<Build> {
  const { repoRoot } = options;
  makePrivateFolder(buildDir);
  const project = await projectOf(options, buildDir);
  const shared = await sharedParts(options, config);
  const settings = [join(repoRoot, "wrangler.toml"), settingsFile(options.configPath)];
  const modules = workerModules({ worker: shared.workerFolder, project: buildDir }, project.files);
  const sourceMap = new LateSourceMap({
    folder: mapsIn(buildDir),
    code: modules.find(({ path }) => path === `/${PROJECT_MODULE}`)?.contents ?? "",
    bundle: (outFile) => build(options, { outFile, sourceMap: true }),
  });
  return {
    config,
    project,
    modules,
    consoleFolder: CONSOLE_FOLDER,
    inputs: [...new Set([...project.inputs, ...shared.inputs, ...settings])],
    sourceMap,
    mapFrames: sourceMapper(async (module) =>
      module === PROJECT_MODULE ? sourceMap.file() : join(shared.workerFolder, `${module}.map`),
    ),
  };
}

/** Returns what all platforms of this installation share. A package contains it prebuilt. */
async function sharedParts(
  { repoRoot, workerMain }: BuildOptions,
  { main, define }: WorkerConfig,
): Promise<SharedBuild> {
  if (BUILT !== undefined) return { workerFolder: BUILT.folder, inputs: [] };
  // Loaded on demand, like the bundler below: most starts of a package build nothing.
  const { buildShared } = await import("./build-shared.ts");
  return buildShared({ repoRoot, main: workerMain ?? main, define });
}

async function projectOf(options: BuildOptions, buildDir: string): Promise<BuiltProject> {
  const { configPath, langGraph, graphHostModule } = options;
  const outFile = join(buildDir, PROJECT_MODULE);
  const project = loadProjectConfig(configPath);
  let built: BuiltProject | undefined;
  const recorded = await unlessUnchanged({
    recordFile: join(buildDir, "project.json"),
    key: [project, langGraph ?? null, graphHostModule ?? null],
    outputs: [outFile],
    build: async () => {
      rmSync(mapsIn(buildDir), { recursive: true, force: true });
      // Hardly a start ever shows a location, so the map is made later.
      built = await build(options, { outFile, sourceMap: false });
      const { inputs, readsFiles, typedSources, warnings } = built;
      const result = { inputs, readsFiles, sources: typedSources.sources, warnings };
      return {
        result,
        inputs: [...built.modules, ...inputs, ...resolvedBy(inputs), ...toolFiles()],
      };
    },
  });
  if (built !== undefined) return built;
  const files = recorded.readsFiles ? await filesOf(project) : [];
  return {
    graphs: project.graphs.map(({ id }) => id),
    hasAuth: project.auth !== undefined,
    env: project.env,
    files,
    typedSources: { project, sources: recorded.sources },
    inputs: [
      ...new Set([...recorded.inputs, ...files.map(({ path }) => join(project.projectDir, path))]),
    ],
    modules: [],
    packageModules: [],
    readsFiles: recorded.readsFiles,
    warnings: recorded.warnings,
  };
}

/** Builds the project. Another thread bundles it, and begins before this one loads anything for it. */
async function build(
  { configPath, langGraph, graphHostModule }: BuildOptions,
  target: Pick<BuildProjectOptions, "outFile" | "sourceMap">,
): Promise<BuiltProject> {
  const options: BuildProjectOptions = {
    ...target,
    configPath,
    // The schemas are read while the server runs: see `LocalSchemas`.
    schemas: false,
    // As a deployment is, which a start reads faster. Whitespace is a third of it.
    compact: true,
    ...(langGraph === undefined ? {} : { langGraph }),
    ...(graphHostModule === undefined ? {} : { graphHostModule }),
  };
  const bundling = bundleInThread(requestedBundle(loadProjectConfig(configPath), options));
  // It is awaited by the build; its rejection must not be unhandled before.
  bundling.catch(() => {});
  const { buildProject } = await import("../project/build-project.ts");
  return buildProject({ ...options, bundle: () => bundling });
}

/** Returns the folder of the source maps in a build folder. */
function mapsIn(buildDir: string): string {
  return join(buildDir, "maps");
}

async function filesOf(project: ProjectConfig): Promise<ProjectFile[]> {
  const { readProjectFiles } = await import("../project/project-files.ts");
  return (await readProjectFiles(project)).files;
}
