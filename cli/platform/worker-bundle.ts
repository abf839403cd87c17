import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as esbuild from "esbuild";
import { CliError } from "../cli-error.ts";
import { bundledFiles, describeMessage, WORKERD_BUILD_OPTIONS } from "../project/build-project.ts";
import { nodeBuiltinsPlugin } from "../project/module-resolution.ts";

export const WORKER_MODULE = "worker.js";
export const PROJECT_MODULE = "project.js";

/**
 * Bundles the Worker itself. The project of graphs stays a module of its own, next to the result.
 * Returns the files that the bundle was made from.
 */
export async function bundleWorker(options: {
  repoRoot: string;
  main: string;
  define: Record<string, string>;
  outFile: string;
}): Promise<string[]> {
  try {
    const result = await esbuild.build({
      ...WORKERD_BUILD_OPTIONS,
      absWorkingDir: options.repoRoot,
      entryPoints: [options.main],
      outfile: options.outFile,
      define: { "process.env.NODE_ENV": '"production"', ...options.define },
      plugins: [projectModulePlugin, nodeBuiltinsPlugin()],
    });
    return bundledFiles(result.metafile, options.repoRoot);
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
    build.onResolve({ filter: /^#project$/ }, () => ({
      path: `./${PROJECT_MODULE}`,
      external: true,
    }));
  },
};

export type WorkerModule = { type: "ESModule"; path: string; contents: string };

/** The Worker's modules as workerd names them: the entry, and the project that it imports. */
export function workerModules(buildDir: string): WorkerModule[] {
  return [WORKER_MODULE, PROJECT_MODULE].map((name) => ({
    type: "ESModule",
    path: `/${name}`,
    contents: readFileSync(join(buildDir, name), "utf8"),
  }));
}
