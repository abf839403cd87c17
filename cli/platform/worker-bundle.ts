import { readFileSync } from "node:fs";
import { join } from "node:path";
import type * as esbuild from "esbuild";
import { CliError } from "../cli-error.ts";
import {
  bundledFiles,
  bundledModules,
  describeMessage,
  WORKERD_BUILD_OPTIONS,
} from "../project/workerd-build.ts";
import { TEMPLATES_FILE } from "../project/build-templates.ts";
import type { ProjectFile } from "../project/project-files.ts";
import { nodeBuiltinsPlugin } from "../project/node-modules.ts";
import { runEsbuild } from "../project/run-esbuild.ts";
import { writeWhole } from "./write-whole.ts";

export const WORKER_MODULE = "worker.js";
export const PROJECT_MODULE = "project.js";
const TEMPLATES_MODULE = "templates.js";

/** Names are not minified, because stack traces contain them. */
const SHIPPED = { minifyWhitespace: true, minifySyntax: true } as const;

/**
 * Bundles the Worker itself. The project's graphs remain a separate module, beside the result. Returns the
 * files that the bundle was made from: `inputs` are source files, and `modules` include installed packages.
 */
export async function bundleWorker(options: {
  repoRoot: string;
  main: string;
  define: Record<string, string>;
  outFile: string;
  /** Minified for distribution. */
  shipped?: boolean;
}): Promise<{ inputs: string[]; modules: string[] }> {
  try {
    const { metafile, outputFiles } = await runEsbuild({
      ...WORKERD_BUILD_OPTIONS,
      absWorkingDir: options.repoRoot,
      entryPoints: [options.main],
      outfile: options.outFile,
      ...(options.shipped === true ? SHIPPED : {}),
      define: { "process.env.NODE_ENV": '"production"', ...options.define },
      plugins: [projectModulePlugin, nodeBuiltinsPlugin()],
      write: false,
    });
    for (const { path, contents } of outputFiles) writeWhole(path, contents);
    return {
      inputs: bundledFiles(metafile, options.repoRoot),
      modules: bundledModules(metafile, options.repoRoot),
    };
  } catch (error) {
    const { errors } = error as esbuild.BuildFailure;
    if (!Array.isArray(errors)) throw error;
    const problems = errors.map((message) => `  ${describeMessage(message)}`);
    throw new CliError(`the Worker does not build:\n${problems.join("\n")}`);
  }
}

const projectModulePlugin: esbuild.Plugin = {
  name: "project-module",
  setup(build) {
    const external = (name: string) => () => ({ path: `./${name}`, external: true });
    build.onResolve({ filter: /^#project$/ }, external(PROJECT_MODULE));
    build.onResolve({ filter: /^#templates$/ }, external(TEMPLATES_MODULE));
  },
};

export type WorkerModule = { type: "ESModule" | "Text"; path: string; contents: string };

/**
 * Returns the Worker's modules under workerd's names for them: the entry, the modules that it imports, and
 * the project's files. The folders are those that the Worker and the project were bundled into.
 */
export function workerModules(
  folders: { worker: string; project: string },
  projectFiles: ProjectFile[],
): WorkerModule[] {
  const files = {
    [WORKER_MODULE]: join(folders.worker, WORKER_MODULE),
    [PROJECT_MODULE]: join(folders.project, PROJECT_MODULE),
    [TEMPLATES_MODULE]: TEMPLATES_FILE,
  };
  const scripts = Object.entries(files).map(([name, file]): WorkerModule => ({
    type: "ESModule",
    path: `/${name}`,
    contents: readFileSync(file, "utf8"),
  }));
  const texts = projectFiles.map(({ path, text }): WorkerModule => ({
    type: "Text",
    path: `/${path}`,
    contents: text,
  }));
  return [...scripts, ...texts];
}
