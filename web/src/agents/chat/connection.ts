/** Names of the client's errors for requests that failed before the server responded, or whose response broke off. */
const LOST = new Set(["ConnectionError", "MaxReconnectAttemptsError", "StreamIdleTimeoutError"]);

/**
 * Returns whether the server could not be reached, or the connection was lost; an error response is not such
 * an error.
 */
export function isConnectionLost(error: unknown): boolean {
  return error instanceof TypeError || (error instanceof Error && LOST.has(error.name));
}

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 5_000;

type Attempts = {
  signal: AbortSignal;
  /** Called for each attempt that did not reach the server. */
  onLost: () => void;
};

/** Repeats an attempt until the server is reached, however long that takes. Throws the server's errors. */
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
