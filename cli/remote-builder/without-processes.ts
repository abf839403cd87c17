/**
 * The steps of a build that need processes, in a form for isolates. In the bundle of the remote builder this
 * module replaces those that perform these steps on Node.
 */
import type { BuiltUi } from "../project/bundle-ui.ts";
import type { ProjectConfig } from "../project/langgraph-json.ts";

/** Does nothing: the graph host checks the project's `Auth` when the revision starts. */
export async function checkAuth(): Promise<void> {}

/**
 * Bundles components, if there are any. The bundler is imported on demand, because isolates of other projects
 * do not have it.
 */
export async function buildUi(project: ProjectConfig): Promise<BuiltUi> {
  if (project.ui === undefined) return { files: {}, inputs: [] };
  return (await import("./ui-bundler.ts")).buildUi(project);
}
