import { join } from "node:path";
import { buildConsole, CONSOLE_FOLDER } from "../console/build-console.ts";
import { settingsFile } from "../installation.ts";
import { buildProject, type BuiltProject } from "../project/build-project.ts";
import { buildTemplates } from "../project/build-templates.ts";
import { buildBuilder } from "../remote-builder/build-builder.ts";
import type { LangGraphChoice } from "../project/langchain-source.ts";
import { loadProjectConfig } from "../project/langgraph-json.ts";
import { readProjectFiles } from "../project/project-files.ts";
import { resolvedBy, toolFiles } from "./build-inputs.ts";
import { unlessUnchanged } from "./build-record.ts";
import { sourceMapper } from "./stack-frames.ts";
import { builtWorker } from "./built-worker.ts";
import { PROJECT_MODULE, workerModules, type WorkerModule } from "./worker-bundle.ts";
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
  mapFrames: (text: string) => string;
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
  const consoleBuild = buildConsole();
  // If another step fails first, its error is the one to report, and this rejection must not be unhandled.
  consoleBuild.catch(() => {});
  const project = await projectOf(options, buildDir);
  await buildTemplates();
  const main = options.workerMain ?? config.main;
  const worker = await builtWorker({ repoRoot, main, define: config.define });
  const consoleInputs = await consoleBuild;
  const builderInputs = await buildBuilder();
  const settings = [join(repoRoot, "wrangler.toml"), settingsFile(options.configPath)];
  return {
    config,
    project,
    modules: workerModules({ worker: worker.folder, project: buildDir }, project.files),
    consoleFolder: CONSOLE_FOLDER,
    inputs: [
      ...new Set([
        ...project.inputs,
        ...worker.inputs,
        ...consoleInputs,
        ...builderInputs,
        ...settings,
      ]),
    ],
    mapFrames: sourceMapper([worker.folder, buildDir]),
  };
}

async function projectOf(options: BuildOptions, buildDir: string): Promise<BuiltProject> {
  const { configPath, langGraph, graphHostModule } = options;
  const outFile = join(buildDir, PROJECT_MODULE);
  const project = loadProjectConfig(configPath);
  let built: BuiltProject | undefined;
  const recorded = await unlessUnchanged({
    recordFile: join(buildDir, "project.json"),
    key: [project, langGraph ?? null, graphHostModule ?? null],
    outputs: [outFile, `${outFile}.map`],
    build: async () => {
      built = await buildProject({
        configPath,
        outFile,
        // The schemas are read while the server runs: see `LocalSchemas`.
        schemas: false,
        ...(langGraph === undefined ? {} : { langGraph }),
        ...(graphHostModule === undefined ? {} : { graphHostModule }),
      });
      const { inputs, readsFiles, typedSources, warnings } = built;
      const result = { inputs, readsFiles, sources: typedSources.sources, warnings };
      return {
        result,
        inputs: [...built.modules, ...inputs, ...resolvedBy(inputs), ...toolFiles()],
      };
    },
  });
  if (built !== undefined) return built;
  const { files } = recorded.readsFiles ? await readProjectFiles(project) : { files: [] };
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
