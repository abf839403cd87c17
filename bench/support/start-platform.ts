import { once } from "node:events";
import { join } from "node:path";
import { REPO_ROOT } from "./paths.ts";
import { startServerProcess } from "./server-process.ts";

const START_TIMEOUT_MS = 60_000;

export type StartedServer = { url: string; stop: () => Promise<void> };

/** Serves the project with this repository's platform, as `npm start` does, in a process of its own. */
export async function startPlatformServer(options: {
  configPath: string;
  stateDir: string;
  /** Variables beside the usual ones, and before them. */
  vars?: Record<string, string>;
  /** An entry in place of the Worker's own. */
  workerMain?: string;
}): Promise<StartedServer> {
  const server = startServerProcess({
    args: [
      join(import.meta.dirname, "platform-process.ts"),
      options.configPath,
      options.stateDir,
      JSON.stringify(options.vars ?? {}),
      ...(options.workerMain === undefined ? [] : [options.workerMain]),
    ],
    cwd: REPO_ROOT,
  });
  try {
    const signal = AbortSignal.timeout(START_TIMEOUT_MS);
    const ended = once(server.child, "exit", { signal }).then(() => {
      throw new Error("The process ended");
    });
    ended.catch(() => undefined);
    const [message] = (await Promise.race([once(server.child, "message", { signal }), ended])) as [
      { url: string },
    ];
    return { url: message.url, stop: server.stop };
  } catch (error) {
    await server.stop();
    throw new Error(`The platform did not start:\n${server.output()}`, { cause: error });
  }
}
