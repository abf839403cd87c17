import { createHash } from "node:crypto";
import { join } from "node:path";
import { resolvedBy, toolFiles } from "./build-inputs.ts";
import { unlessUnchanged } from "./build-record.ts";
import { bundleWorker } from "./worker-bundle.ts";
import { WORKER_MODULE } from "./worker-modules.ts";

export type BuiltWorker = {
  folder: string;
  /** Source files that a developer may edit. */
  inputs: string[];
};

/**
 * Returns the folder with the Worker's bundle and its source map. The bundle does not depend on a project or
 * a state, so platforms of a checkout share it, unless they have different entry modules.
 */
export async function builtWorker(options: {
  repoRoot: string;
  main: string;
  define: Record<string, string>;
}): Promise<BuiltWorker> {
  const digest = createHash("sha256").update(JSON.stringify(options)).digest("hex");
  const folder = join(options.repoRoot, ".threadworks/worker", digest.slice(0, 16));
  const outFile = join(folder, WORKER_MODULE);
  const inputs = await unlessUnchanged({
    recordFile: join(folder, "worker.json"),
    key: options,
    outputs: [outFile, `${outFile}.map`],
    build: async () => {
      const { inputs, modules } = await bundleWorker({ ...options, outFile });
      return { result: inputs, inputs: [...modules, ...resolvedBy(inputs), ...toolFiles()] };
    },
  });
  return { folder, inputs };
}
