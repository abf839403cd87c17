import { join } from "node:path";
import { REPO_ROOT } from "./paths.ts";
import { type StartedServer, startTellingServer } from "./server-process.ts";

/** Serves the project with this repository's platform, as `npm start` does, in a process of its own. */
export function startPlatformServer(options: {
  configPath: string;
  stateDir: string;
  /** Variables beside the usual ones, and before them. */
  vars?: Record<string, string>;
  /** An entry in place of the Worker's own. */
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
