import { join } from "node:path";
import { REPO_ROOT } from "./paths.ts";
import { type StartedServer, startTellingServer } from "./server-process.ts";

/** Serves the project with this repository's platform, as `npm start` does, in a separate process. */
export function startPlatformServer(options: {
  configPath: string;
  stateDir: string;
  /** Additional variables, which override the usual ones. */
  vars?: Record<string, string>;
  /** An entry module in place of the Worker's own. */
  workerMain?: string;
}): Promise<StartedServer> {
  return startTellingServer({
    args: [
      join(import.meta.dirname, "platform-process.ts"),
      options.configPath,
      options.stateDir,
      JSON.stringify(options.vars ?? {}),
      ...(options.workerMain === undefined ? [] : [options.workerMain]),
    ],
    cwd: REPO_ROOT,
  });
}
