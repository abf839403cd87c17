/**
 * What a build leaves out where no process can be started: the bundle of the remote builder has this module in the
 * place of those that do these things on Node.
 */
import { CliError } from "../cli-error.ts";
import type { BuiltUi } from "../project/build-ui.ts";
import type { ProjectConfig } from "../project/langgraph-json.ts";

/** The graph host looks at the project's `Auth` when the revision starts. */
export async function checkAuth(): Promise<void> {}

export async function buildUi({ ui }: ProjectConfig): Promise<BuiltUi> {
  if (ui === undefined) return { files: {}, inputs: [] };
  throw new CliError(
    `"ui" in langgraph.json cannot be built on the platform: its bundler needs Node. Build the project on your machine: threadworks deploy --build local`,
  );
}
