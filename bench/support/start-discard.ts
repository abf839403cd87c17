import { once } from "node:events";
import { join } from "node:path";
import { REPO_ROOT } from "./paths.ts";
import { startServerProcess } from "./server-process.ts";
import type { StartedServer } from "./start-platform.ts";

const START_TIMEOUT_MS = 60_000;

/** Serves the Worker that decodes and drops, under a workerd of its own. */
export async function startDiscardServer(stateDir: string): Promise<StartedServer> {
  const server = startServerProcess({
    args: [join(import.meta.dirname, "discard-process.ts"), stateDir],
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
    throw new Error(`The discarding server did not start:\n${server.output()}`, { cause: error });
  }
}
