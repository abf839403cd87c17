import { dirname, relative } from "node:path";
import type * as Bundler from "@langchain/langgraph-ui/dist/bundler.mjs";
import type * as esbuild from "esbuild";
import { CliError } from "../cli-error.ts";
import type { ProjectConfig } from "./langgraph-json.ts";
import { bundledFiles, describeMessage } from "./workerd-build.ts";
import { runEsbuild } from "./run-esbuild.ts";

export type BuiltUi = {
  /** The text of each file, keyed by the name under `ui` in `langgraph.json` and then by file name. */
  files: Record<string, Record<string, string>>;
  /** Absolute paths of the source files, without installed packages. */
  inputs: string[];
};

export type UiBundler = typeof Bundler.build;

/**
 * Bundles the components of `ui` for browsers, each module into a script and, if it imports styles, a style
 * sheet. `build` is the function of the ecosystem's own bundler, because its scripts and the SDK's
 * `LoadExternalComponent` agree on how a page provides React. Throws a `CliError` when a module does not
 * build.
 */
export async function bundleUi(project: ProjectConfig, build: UiBundler): Promise<BuiltUi> {
  const { ui, projectDir } = project;
  if (ui === undefined) return { files: {}, inputs: [] };
  const files: BuiltUi["files"] = {};
  const inputs: string[] = [];
  for (const { name, file } of ui.modules) {
    try {
      inputs.push(...(await filesOf(file, projectDir)));
      const userPath = relative(projectDir, file);
      const made = await build(name, { cwd: projectDir, userPath, config: { shared: ui.shared } });
      const texts = made.map(({ basename, contents }) => [
        basename,
        new TextDecoder().decode(contents),
      ]);
      files[name] = Object.fromEntries(texts);
    } catch (error) {
      const { errors } = error as Partial<esbuild.BuildFailure>;
      if (!Array.isArray(errors)) throw error;
      const problems = errors.map((message) => `  ui "${name}": ${describeMessage(message)}`);
      throw new CliError(`${projectDir} does not build:\n${problems.join("\n")}`);
    }
  }
  return { files, inputs };
}

/**
 * Returns the source files of a component, which the bundler above does not report. Errors found here are
 * thrown; the bundler reports the others.
 */
async function filesOf(file: string, projectDir: string): Promise<string[]> {
  const { metafile } = await runEsbuild({
    absWorkingDir: projectDir,
    entryPoints: [file],
    bundle: true,
    write: false,
    outdir: dirname(file),
    metafile: true,
    packages: "external",
    jsx: "automatic",
    logLevel: "silent",
  });
  return bundledFiles(metafile, projectDir);
}
