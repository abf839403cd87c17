import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type * as esbuild from "esbuild";
import { CliError } from "../cli-error.ts";
import { BundleRepairs } from "./bundle-repairs.ts";
import { describeEntryError, ENTRY, entryPlugin } from "./entry-module.ts";
import { type LangChainSource, langChainPlugin } from "./langchain-source.ts";
import type { ProjectConfig } from "./langgraph-json.ts";
import { lazyImportMapPlugin } from "./lazy-import-map.ts";
import { modulePathsPlugin, PATH_DEFINES } from "./module-paths.ts";
import { nativeAddonPlugin, nodeBuiltinsPlugin } from "./node-modules.ts";
import { variableImportsPlugin } from "./variable-imports.ts";
import { describeMessage, WORKERD_BUILD_OPTIONS } from "./workerd-build.ts";
import { runEsbuild } from "./run-esbuild.ts";

/** Each round mends all that the one before has met, so a project that needs more goes in circles. */
const MAX_ROUNDS = 10;

/** The map stays out of the module: it is shipped beside it. */
const COMPACT = {
  minifyWhitespace: true,
  minifySyntax: true,
  sourcemap: "external",
} as const;

/** A base of tsconfig.json that is a development dependency changes nothing about a bundle. */
const MEANINGLESS_WARNING = /^Cannot find base config file /;

export type BundleOptions = {
  project: ProjectConfig;
  langChain: LangChainSource;
  /** The ES module to write; its source map is written beside it. */
  outFile: string;
  graphHostModule: string;
  /** As small as it gets with the names in it left as they are: stack traces tell them. */
  compact: boolean;
  /** Whether schemas are put into the module, by `addSchemas`. */
  schemas: boolean;
};

export type GraphBundle = { metafile: esbuild.Metafile; warnings: string[] };

/**
 * Bundles the graphs of a project, again where installed packages need something of the bundle. Throws a
 * `CliError` that names what is wrong with the project.
 */
export async function bundleGraphs(options: BundleOptions): Promise<GraphBundle> {
  const { project } = options;
  const repairs = new BundleRepairs(project.projectDir);
  for (let round = 1; round <= MAX_ROUNDS; round += 1) {
    const result = await build(options, repairs);
    if (result === null || repairs.noteDisabled(result.metafile)) continue;
    if (!repairs.noteParents(readFileSync(resolve(options.outFile), "utf8"))) {
      const told = result.warnings.filter(({ text }) => !MEANINGLESS_WARNING.test(text));
      const warnings = [...repairs.warnings(), ...told.map(describeMessage)];
      return { metafile: result.metafile, warnings };
    }
  }
  throw failure(project, ["its packages cannot be put together: install them anew"]);
}

/** Null when it failed for nothing but what the next round mends. */
async function build(
  options: BundleOptions,
  repairs: BundleRepairs,
): Promise<esbuild.BuildResult<{ metafile: true }> | null> {
  const { project, langChain, compact } = options;
  try {
    return await runEsbuild({
      ...WORKERD_BUILD_OPTIONS,
      absWorkingDir: project.projectDir,
      entryPoints: [ENTRY],
      outfile: resolve(options.outFile),
      define: {
        ...PATH_DEFINES,
        "process.env.NODE_ENV": JSON.stringify(project.env["NODE_ENV"] ?? "production"),
      },
      ...(compact ? COMPACT : {}),
      plugins: [
        entryPlugin(options),
        nodeBuiltinsPlugin(),
        langChainPlugin(langChain),
        repairs.plugin(),
        nativeAddonPlugin(),
        lazyImportMapPlugin(),
        variableImportsPlugin(project.projectDir),
        modulePathsPlugin(project.projectDir),
      ],
    });
  } catch (error) {
    const { errors } = error as esbuild.BuildFailure;
    if (!Array.isArray(errors)) throw error;
    const left = repairs.note(errors);
    if (left.length === 0) return null;
    throw failure(
      project,
      left.map((message) => describeEntryError(message, project) ?? repairs.describe(message)),
    );
  }
}

function failure({ projectDir }: ProjectConfig, problems: string[]): CliError {
  return new CliError(
    `${projectDir} does not build:\n${problems.map((problem) => `  ${problem}`).join("\n")}`,
  );
}
