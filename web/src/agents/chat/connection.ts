/** The names that the agents' client gives what fails before the server has answered, or after its answer broke off. */
const LOST = new Set(["ConnectionError", "MaxReconnectAttemptsError", "StreamIdleTimeoutError"]);

/** Whether the server could not be reached, or no longer; what it answers is no such error. */
export function isConnectionLost(error: unknown): boolean {
  return error instanceof TypeError || (error instanceof Error && LOST.has(error.name));
}

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 5_000;

type Attempts = {
  signal: AbortSignal;
  /** Hears of each attempt that did not reach the server. */
  onLost: () => void;
};

/** Does what needs the server as soon as the server is there, however long that takes. Throws what it answers. */
export async function untilReached<T>(
  attempt: () => Promise<T>,
  { signal, onLost }: Attempts,
): Promise<T> {
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    try {
      return await attempt();
    } catch (error) {
      if (signal.aborted || !isConnectionLost(error)) throw error;
      onLost();
      await paused(pause, signal);
    }
  }
}

function paused(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  signal.addEventListener("abort", () => {
    clearTimeout(timer);
    resolve();
  });
  return promise;
}
