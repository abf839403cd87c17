import { describeError } from "./cli-error.ts";
import { prepareDevState } from "./dev/dev-state.ts";
import { writeProjectEnv } from "./dev/project-env.ts";
import { REPO_ROOT } from "./invocation.ts";

/**
 * Creates what `wrangler dev` needs and does not create itself: the database, its workspace and the graphs'
 * variables.
 */
try {
  writeProjectEnv(REPO_ROOT);
  const done = await prepareDevState(REPO_ROOT);
  if (done !== undefined) console.log(done);
} catch (error) {
  console.error(`error: ${describeError(error)}`);
  process.exit(1);
}
