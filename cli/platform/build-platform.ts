import { copyFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { buildConsole, CONSOLE_FOLDER } from "../console/build-console.ts";
import { BUILT, settingsFile } from "../installation.ts";
import { REPO_ROOT } from "../invocation.ts";
import { buildProject, type BuiltProject } from "../project/build-project.ts";
import { buildTemplates } from "../project/build-templates.ts";
import { buildBuilder } from "../remote-builder/build-builder.ts";
import type { LangGraphChoice } from "../project/langchain-source.ts";
import { loadProjectConfig } from "../project/langgraph-json.ts";
import { readProjectFiles } from "../project/project-files.ts";
import { unlessUnchanged } from "./build-record.ts";
import { sourceMapper } from "./stack-frames.ts";
import {
  bundleWorker,
  PROJECT_MODULE,
  WORKER_MODULE,
  workerModules,
  type WorkerModule,
} from "./worker-bundle.ts";
import { makePrivateFolder } from "./private-folder.ts";
import { readWorkerConfig, type WorkerConfig } from "./worker-options.ts";

/** What bundles, besides its options: a change of it changes what comes out. */
const TOOLS_FOLDER = join(REPO_ROOT, "cli/project");
const OTHER_TOOLS = [
  "cli/platform/worker-bundle.ts",
  "cli/platform/worker-options.ts",
  "package-lock.json",
];

/** What package managers leave in a folder, and what says how its modules are resolved. */
const RESOLUTION = [
  "package.json",
  "tsconfig.json",
  "node_modules",
  "node_modules/.package-lock.json",
  "node_modules/.modules.yaml",
  "node_modules/.yarn-integrity",
  "node_modules/.yarn-state.yml",
];

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
  /** The files that somebody edits. */
  inputs: string[];
  mapFrames: (text: string) => string;
};

/** Reads the configuration, when it has changed since it was read into `buildDir` last. */
export function platformConfig(options: BuildOptions, buildDir: string): Promise<WorkerConfig> {
  makePrivateFolder(buildDir);
  return configOf(options.repoRoot, settingsFile(options.configPath), buildDir);
}

/**
 * Bundles the project and the Worker into `buildDir`; each of them only when something has changed since it was there
 * last. The console is built beside them, for all platforms of a checkout.
 */
export async function buildPlatform(
  options: BuildOptions,
  config: WorkerConfig,
  buildDir: string,
): Promise<Build> {
  const { repoRoot } = options;
  const consoleBuild = buildConsole();
  // Should something else fail first, that is what is told.
  consoleBuild.catch(() => {});
  const project = await projectOf(options, buildDir);
  await buildTemplates();
  const main = options.workerMain ?? config.main;
  const workerInputs = await workerOf({ repoRoot, main, define: config.define }, buildDir);
  const consoleInputs = await consoleBuild;
  const builderInputs = await buildBuilder();
  const settings = [join(repoRoot, "wrangler.toml"), settingsFile(options.configPath)];
  return {
    config,
    project,
    modules: workerModules(buildDir, project.files),
    consoleFolder: CONSOLE_FOLDER,
    inputs: [
      ...new Set([
        ...project.inputs,
        ...workerInputs,
        ...consoleInputs,
        ...builderInputs,
        ...settings,
      ]),
    ],
    mapFrames: sourceMapper(buildDir),
  };
}

function configOf(repoRoot: string, settingsPath: string, buildDir: string): Promise<WorkerConfig> {
  const names = ["wrangler.toml", ".env", ".env.local"];
  const cloudflare = Object.entries(process.env).filter(([name]) => name.startsWith("CLOUDFLARE_"));
  return unlessUnchanged({
    recordFile: join(buildDir, "config.json"),
    key: [repoRoot, settingsPath, cloudflare],
    outputs: [],
    build: async () => ({
      result: await readWorkerConfig(repoRoot, settingsPath),
      inputs: [settingsPath, ...names.map((name) => join(repoRoot, name)), ...toolFiles()],
    }),
  });
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
        // They are read beside the server: see `LocalSchemas`.
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

/** Returns the files that somebody edits. */
function workerOf(
  options: { repoRoot: string; main: string; define: Record<string, string> },
  buildDir: string,
): Promise<string[]> {
  const outFile = join(buildDir, WORKER_MODULE);
  return unlessUnchanged({
    recordFile: join(buildDir, "worker.json"),
    key: options,
    outputs: [outFile, `${outFile}.map`],
    build: async () => {
      if (BUILT !== undefined) return takeBuiltWorker(BUILT.worker, outFile);
      const { inputs, modules } = await bundleWorker({ ...options, outFile });
      return {
        result: inputs,
        inputs: [...modules, ...resolvedBy(inputs), ...toolFiles()],
      };
    },
  });
}

function takeBuiltWorker(worker: string, outFile: string): { result: string[]; inputs: string[] } {
  const files = [worker, `${worker}.map`];
  copyFileSync(worker, outFile);
  copyFileSync(`${worker}.map`, `${outFile}.map`);
  return { result: [], inputs: files };
}

/** What decides which modules the imports of these files are: other names beside them, and what is installed. */
function resolvedBy(files: readonly string[]): string[] {
  const folders = new Set(files.map((file) => dirname(file)));
  const above = new Set(folders);
  // A set that grows while it is walked is walked to its end.
  for (const folder of above) above.add(dirname(folder));
  return [
    ...folders,
    ...[...above].flatMap((folder) => RESOLUTION.map((name) => join(folder, name))),
  ];
}

function toolFiles(): string[] {
  // All of a package is written when it is installed.
  if (BUILT !== undefined) return [join(REPO_ROOT, "package.json"), BUILT.config];
  const names = readdirSync(TOOLS_FOLDER);
  return [
    ...names.map((name) => join(TOOLS_FOLDER, name)),
    ...OTHER_TOOLS.map((name) => join(REPO_ROOT, name)),
  ];
}
