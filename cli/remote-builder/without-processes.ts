/**
 * What a build leaves out where no process can be started: the bundle of the remote builder has this module in the
 * place of those that do these things on Node.
 */
import type { BuiltUi } from "../project/bundle-ui.ts";
import type { ProjectConfig } from "../project/langgraph-json.ts";

/** The graph host looks at the project's `Auth` when the revision starts. */
export async function checkAuth(): Promise<void> {}

/** What bundles components is evaluated where there are some: isolates of other projects do not even have it. */
export async function buildUi(project: ProjectConfig): Promise<BuiltUi> {
  if (project.ui === undefined) return { files: {}, inputs: [] };
  return (await import("./ui-bundler.ts")).buildUi(project);
}
