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

/** Each round mends all that the one before has met, so a project that needs more goes in circles. */
export const MAX_ROUNDS = 10;

/** Packages that circle without an end, or need more rounds than one expects of any project. */
export const UNENDING = "its packages cannot be put together: install them anew";

/** The map stays out of the module: it is shipped beside it. */
const COMPACT = {
  minifyWhitespace: true,
  minifySyntax: true,
  sourcemap: "external",
} as const;

/**
 * A base of tsconfig.json that is a development dependency changes nothing about a bundle; and the graph host does
 * without what LangChain does not have before 0.3.58.
 */
const MEANINGLESS_WARNING =
  /^Cannot find base config file |^Import "(?:isZodSchemaV[34]|toJsonSchema)" will always be undefined /;

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

export type GraphBundle = {
  metafile: esbuild.Metafile;
  warnings: string[];
  /** The names of further modules beside the one that was asked for, which it imports. */
  packageModules: string[];
};

/** How modules of a project and of its packages are bundled, whichever of them a bundle has. */
export function bundleSettings(options: BundleOptions, repairs: BundleRepairs) {
  const { project, langChain, compact } = options;
  return {
    ...WORKERD_BUILD_OPTIONS,
    // Traces tell runs by the names of classes and functions, and LangChain serializes its own by them.
    keepNames: true,
    absWorkingDir: project.projectDir,
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
  } satisfies esbuild.BuildOptions;
}

/** What is to be told of the warnings of a bundle. */
export function toldWarnings(warnings: readonly esbuild.Message[]): string[] {
  return warnings.filter(({ text }) => !MEANINGLESS_WARNING.test(text)).map(describeMessage);
}

/** The errors of a build of esbuild; anything else that was thrown is thrown again. */
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
