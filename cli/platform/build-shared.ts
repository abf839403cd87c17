import { buildConsole } from "../console/build-console.ts";
import { buildTemplates } from "../project/build-templates.ts";
import { buildBuilder } from "../remote-builder/build-builder.ts";
import { builtWorker } from "./built-worker.ts";

export type SharedBuild = {
  /** The folder of the Worker's bundle. */
  workerFolder: string;
  /** Source files that a developer may edit. */
  inputs: string[];
};

/**
 * Builds what all platforms of a checkout share: the Worker, the console, the templates and the builder. Each is
 * only built again when something has changed.
 */
export async function buildShared(
  options: Parameters<typeof builtWorker>[0],
): Promise<SharedBuild> {
  const consoleBuild = buildConsole();
  // If another step fails first, its error is the one to report, and this rejection must not be unhandled.
  consoleBuild.catch(() => {});
  await buildTemplates();
  const worker = await builtWorker(options);
  const consoleInputs = await consoleBuild;
  const builderInputs = await buildBuilder();
  return {
    workerFolder: worker.folder,
    inputs: [...worker.inputs, ...consoleInputs, ...builderInputs],
  };
}
