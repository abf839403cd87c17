import { createRequire } from "node:module";
import type * as Esbuild from "esbuild";

const require = createRequire(import.meta.url);

/**
 * Percentage by which the bundler's heap may grow before it is collected. With Go's default of 100, a third
 * of a bundle's time is garbage collection; with 400 the process needs no more memory than before, because
 * its heap is small between two bundles.
 */
const HEAP_GROWTH = "400";

/**
 * Calls esbuild's `build` in a process that collects garbage less often. A `GOGC` that is set already is kept.
 * Loads esbuild on demand, because a start bundles in another thread than most of its modules; and by
 * `require`, as it is CommonJS: an `import` would first parse it for exported names.
 */
export async function runEsbuild<T extends Esbuild.BuildOptions>(
  options: Esbuild.SameShape<Esbuild.BuildOptions, T>,
): Promise<Esbuild.BuildResult<T>> {
  const { build } = require("esbuild") as typeof Esbuild;
  const own = process.env["GOGC"];
  process.env["GOGC"] = own ?? HEAP_GROWTH;
  try {
    // The first call starts the process before it returns.
    return build(options);
  } finally {
    if (own === undefined) delete process.env["GOGC"];
  }
}
