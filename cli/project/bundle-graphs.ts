import { resolve } from "node:path";
import * as esbuild from "esbuild";
import { CliError } from "../cli-error.ts";
import { BundleRepairs } from "./bundle-repairs.ts";
import { describeEntryError, ENTRY, entryPlugin } from "./entry-module.ts";
import { type LangChainSource, langChainPlugin } from "./langchain-source.ts";
import type { ProjectConfig } from "./langgraph-json.ts";
import { modulePathsPlugin, PATH_DEFINES } from "./module-paths.ts";
import { nativeAddonPlugin, nodeBuiltinsPlugin } from "./node-modules.ts";
import { variableImportsPlugin } from "./variable-imports.ts";
import { describeMessage, WORKERD_BUILD_OPTIONS } from "./workerd-build.ts";

/** Each round mends all that the one before has met, so a project that needs more goes in circles. */
const MAX_ROUNDS = 10;

/** The map stays out of the module: it is shipped beside it. */
const COMPACT = {
  minifyWhitespace: true,
  minifySyntax: true,
  sourcemap: "external",
  sourcesContent: false,
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
  /** The schemas that go into the module, as they are known when it is made. */
  schemas: () => unknown;
};

export type GraphBundle = { metafile: esbuild.Metafile; warnings: string[] };

/** Bundles the graphs of a project, as often as it is asked to: what it has read once it keeps. */
export class GraphBundler {
  readonly #options: BundleOptions;
  readonly #repairs: BundleRepairs;
  #context: esbuild.BuildContext<{ metafile: true }> | undefined;

  constructor(options: BundleOptions) {
    this.#options = options;
    this.#repairs = new BundleRepairs(options.project.projectDir);
  }

  /** Throws a `CliError` that names what is wrong with the project. */
  async bundle(): Promise<GraphBundle> {
    for (let round = 1; round <= MAX_ROUNDS; round += 1) {
      this.#context ??= await this.#newContext();
      const result = await this.#rebuild(this.#context);
      if (result !== null && !this.#repairs.noteDisabled(result.metafile)) {
        const told = result.warnings.filter(({ text }) => !MEANINGLESS_WARNING.test(text));
        const warnings = [...this.#repairs.warnings(), ...told.map(describeMessage)];
        return { metafile: result.metafile, warnings };
      }
      await this.dispose();
    }
    throw this.#failure(["its packages cannot be put together: install them anew"]);
  }

  async dispose(): Promise<void> {
    await this.#context?.dispose();
    this.#context = undefined;
  }

  #newContext(): Promise<esbuild.BuildContext<{ metafile: true }>> {
    const { project, langChain, compact } = this.#options;
    return esbuild.context({
      ...WORKERD_BUILD_OPTIONS,
      absWorkingDir: project.projectDir,
      entryPoints: [ENTRY],
      outfile: resolve(this.#options.outFile),
      define: {
        ...PATH_DEFINES,
        "process.env.NODE_ENV": JSON.stringify(project.env["NODE_ENV"] ?? "production"),
      },
      ...(compact ? COMPACT : {}),
      plugins: [
        entryPlugin(this.#options),
        nodeBuiltinsPlugin(),
        langChainPlugin(langChain),
        this.#repairs.plugin(),
        nativeAddonPlugin(),
        variableImportsPlugin(project.projectDir),
        modulePathsPlugin(project.projectDir),
      ],
    });
  }

  /** Null when it failed for nothing but what the next round mends. */
  async #rebuild(
    context: esbuild.BuildContext<{ metafile: true }>,
  ): Promise<esbuild.BuildResult<{ metafile: true }> | null> {
    try {
      return await context.rebuild();
    } catch (error) {
      const { errors } = error as esbuild.BuildFailure;
      if (!Array.isArray(errors)) throw error;
      const left = this.#repairs.note(errors);
      if (left.length === 0) return null;
      throw this.#failure(left.map((message) => this.#describe(message)));
    }
  }

  #describe(message: esbuild.Message): string {
    const { project } = this.#options;
    return describeEntryError(message, project) ?? this.#repairs.describe(message);
  }

  #failure(problems: string[]): CliError {
    const { projectDir } = this.#options.project;
    return new CliError(
      `${projectDir} does not build:\n${problems.map((problem) => `  ${problem}`).join("\n")}`,
    );
  }
}
