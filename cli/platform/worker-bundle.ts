import type * as esbuild from "esbuild";
import { CliError } from "../cli-error.ts";
import {
  bundledFiles,
  bundledModules,
  describeMessage,
  WORKERD_BUILD_OPTIONS,
} from "../project/workerd-build.ts";
import { nodeBuiltinsPlugin } from "../project/node-modules.ts";
import { runEsbuild } from "../project/run-esbuild.ts";
import { PROJECT_MODULE, TEMPLATES_MODULE } from "./worker-modules.ts";
import { writeWhole } from "./write-whole.ts";

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
