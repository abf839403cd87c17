import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type * as esbuild from "esbuild";
import {
  bundleFailure,
  type BundleOptions,
  bundleSettings,
  errorsOf,
  type GraphBundle,
  MAX_ROUNDS,
  toldWarnings,
  UNENDING,
} from "./bundle-options.ts";
import { BundleRepairs } from "./bundle-repairs.ts";
import { describeEntryError, ENTRY } from "./entry-module.ts";
import { runEsbuild } from "./run-esbuild.ts";

/**
 * Bundles the graphs of a project, in several rounds when installed packages need repairs. Throws a
 * `CliError` that says what is wrong with the project.
 */
export async function bundleGraphs(options: BundleOptions): Promise<GraphBundle> {
  const { project } = options;
  const repairs = new BundleRepairs(project.projectDir);
  for (let round = 1; round <= MAX_ROUNDS; round += 1) {
    const result = await build(options, repairs);
    if (result === null || repairs.noteDisabled(result.metafile)) continue;
    if (!repairs.noteParents(readFileSync(resolve(options.outFile), "utf8"))) {
      const warnings = [...repairs.warnings(), ...toldWarnings(result.warnings)];
      return { metafile: result.metafile, warnings, packageModules: [] };
    }
  }
  throw bundleFailure(project, [UNENDING]);
}

/** Returns null when all errors are ones that the next round repairs. */
async function build(
  options: BundleOptions,
  repairs: BundleRepairs,
): Promise<esbuild.BuildResult<{ metafile: true }> | null> {
  const { project } = options;
  try {
    return await runEsbuild({
      ...bundleSettings(options, repairs),
      entryPoints: [ENTRY],
      outfile: resolve(options.outFile),
    });
  } catch (error) {
    const left = repairs.note(errorsOf(error));
    if (left.length === 0) return null;
    throw bundleFailure(
      project,
      left.map((message) => describeEntryError(message, project) ?? repairs.describe(message)),
    );
  }
}
