import { CliError } from "../cli-error.ts";
import { type BuiltUi, bundleUi, type UiBundler } from "./bundle-ui.ts";
import type { ProjectConfig } from "./langgraph-json.ts";
import { addCommand } from "./package-manager.ts";

/**
 * Returns the files of a project's components. Throws a `CliError` when one does not build, or when the
 * bundler is not installed.
 */
export async function buildUi(project: ProjectConfig): Promise<BuiltUi> {
  if (project.ui === undefined) return { files: {}, inputs: [] };
  return bundleUi(project, await bundler(project.projectDir));
}

/**
 * Loads the bundler of components. It is not part of the platform, because many projects have no components;
 * those that do have to install it.
 */
async function bundler(projectDir: string): Promise<UiBundler> {
  try {
    return (await import("@langchain/langgraph-ui/dist/bundler.mjs")).build;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw error;
    throw new CliError(
      `${projectDir} has "ui" in its langgraph.json, and the bundler for its components is not installed: ` +
        addCommand(projectDir, ["@langchain/langgraph-ui"], { dev: true }),
    );
  }
}
