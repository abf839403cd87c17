import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";

const START_TIMEOUT_MS = 60_000;
/** Half of this is what a start appears to take longer than it does. */
const READY_POLL_MS = 25;
const STOP_TIMEOUT_MS = 10_000;
const MAX_KEPT_OUTPUT = 20_000;

export type ServerProcess = {
  child: ChildProcess;
  output: () => string;
  stop: () => Promise<void>;
};

/**
 * Starts a server in a separate process. It has an IPC channel, so that it can exit when this process is gone. Its
 * output is kept for error messages only.
 */
export function startServerProcess(options: {
  args: string[];
  cwd: string;
  env?: Record<string, string>;
}): ServerProcess {
  const child = spawn(process.execPath, options.args, {
    cwd: options.cwd,
    env: { ...process.env, ...options.env },
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (data: Buffer) => {
      output = (output + data.toString()).slice(-MAX_KEPT_OUTPUT);
    });
  }
  const exited = once(child, "exit");
  return {
    child,
    output: () => output,
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill("SIGTERM");
      const timer = setTimeout(() => child.kill("SIGKILL"), STOP_TIMEOUT_MS);
      await exited;
      clearTimeout(timer);
    },
  };
}

export type StartedServer = { url: string; stop: () => Promise<void> };

/** Starts a server that sends `{ url }` over its channel once it serves. Throws with its output when it does not. */
export async function startTellingServer(
  options: Parameters<typeof startServerProcess>[0],
): Promise<StartedServer> {
  const server = startServerProcess(options);
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
    throw new Error(`The server of ${options.args[0]} did not start:\n${server.output()}`, {
      cause: error,
    });
  }
}

/** Waits until `GET /ok` answers. Throws with the process's output when the process ends first. */
export async function untilAnswering(
  server: ServerProcess,
  url: string,
  timeoutMs: number,
): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (Date.now() < deadline) {
    if (server.child.exitCode !== null) break;
    const ok = await fetch(`${url}/ok`).then(
      async (response) => (await response.text()) !== "" && response.ok,
      () => false,
    );
    if (ok) return;
    await new Promise((resolve) => setTimeout(resolve, READY_POLL_MS));
  }
  throw new Error(`The server at ${url} did not start:\n${server.output()}`);
}
