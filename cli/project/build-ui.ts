import { CliError } from "../cli-error.ts";
import { type BuiltUi, bundleUi, type UiBundler } from "./bundle-ui.ts";
import type { ProjectConfig } from "./langgraph-json.ts";

/** The files of a project's components. Throws a `CliError` for what does not build, and where no bundler is installed. */
export async function buildUi(project: ProjectConfig): Promise<BuiltUi> {
  if (project.ui === undefined) return { files: {}, inputs: [] };
  return bundleUi(project, await bundler(project.projectDir));
}

/** Many projects have no components, so a project that has some installs what bundles them. */
async function bundler(projectDir: string): Promise<UiBundler> {
  try {
    return (await import("@langchain/langgraph-ui/dist/bundler.mjs")).build;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw error;
    throw new CliError(
      `${projectDir} has "ui" in its langgraph.json, and what bundles its components is not installed: ` +
        "npm install --save-dev @langchain/langgraph-ui",
    );
  }
}
