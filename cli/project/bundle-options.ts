import type * as esbuild from "esbuild";
import { CliError } from "../cli-error.ts";
import type { BundleRepairs } from "./bundle-repairs.ts";
import { entryPlugin } from "./entry-module.ts";
import { type LangChainSource, langChainPlugin } from "./langchain-source.ts";
import type { ProjectConfig } from "./langgraph-json.ts";
import { lazyImportMapPlugin } from "./lazy-import-map.ts";
import { modulePathsPlugin, PATH_DEFINES } from "./module-paths.ts";
import { nativeAddonPlugin, nodeBuiltinsPlugin } from "./node-modules.ts";
import { variableImportsPlugin } from "./variable-imports.ts";
import { describeMessage, WORKERD_BUILD_OPTIONS } from "./workerd-build.ts";

/**
 * Maximum rounds. Each round repairs everything that the one before reported, so a project that needs more is
 * in a loop.
 */
export const MAX_ROUNDS = 10;

/** Reported for packages that need more than MAX_ROUNDS rounds. */
export const UNENDING = "its packages cannot be bundled together: reinstall them";

/** The source map is shipped beside the module and not linked in it. */
const COMPACT = {
  minifyWhitespace: true,
  minifySyntax: true,
  sourcemap: "external",
} as const;

/**
 * Warnings that have no consequences: a base of tsconfig.json from a missing development dependency does not
 * affect a bundle, and the graph host handles the absence of what LangChain does not export before 0.3.58.
 */
const MEANINGLESS_WARNING =
  /^Cannot find base config file |^Import "(?:isZodSchemaV[34]|toJsonSchema)" will always be undefined /;

export type BundleOptions = {
  project: ProjectConfig;
  langChain: LangChainSource;
  /** The ES module to write. */
  outFile: string;
  /** Whether to write the module's source map beside it. */
  sourceMap: boolean;
  graphHostModule: string;
  /** Whether to minify everything but names, which stack traces contain. */
  compact: boolean;
  /** Whether schemas are put into the module, by `addSchemas`. */
  schemas: boolean;
};

export type GraphBundle = {
  metafile: esbuild.Metafile;
  warnings: string[];
  /** The names of further modules beside the requested one, which it imports. */
  packageModules: string[];
};

/** Returns the esbuild settings that apply to modules of a project and of its packages alike. */
export function bundleSettings(options: BundleOptions, repairs: BundleRepairs) {
  const { project, langChain, compact, sourceMap } = options;
  return {
    ...WORKERD_BUILD_OPTIONS,
    // Traces identify runs by the names of classes and functions, and LangChain serialises its own objects by them.
    keepNames: true,
    absWorkingDir: project.projectDir,
    define: {
      ...PATH_DEFINES,
      "process.env.NODE_ENV": JSON.stringify(project.env["NODE_ENV"] ?? "production"),
    },
    ...(compact ? COMPACT : {}),
    ...(sourceMap ? {} : { sourcemap: false as const }),
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
  } satisfies esbuild.BuildOptions;
}

/** Returns the texts of the warnings that are relevant for the user. */
export function toldWarnings(warnings: readonly esbuild.Message[]): string[] {
  return warnings.filter(({ text }) => !MEANINGLESS_WARNING.test(text)).map(describeMessage);
}

/** Returns the errors of an esbuild failure; any other error is thrown again. */
export function errorsOf(error: unknown): esbuild.Message[] {
  const { errors } = error as esbuild.BuildFailure;
  if (!Array.isArray(errors)) throw error;
  return errors;
}

export function bundleFailure({ projectDir }: ProjectConfig, problems: string[]): CliError {
  return new CliError(
    `${projectDir} does not build:\n${problems.map((problem) => `  ${problem}`).join("\n")}`,
  );
}
