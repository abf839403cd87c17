const POLL_MS = 20;

/** Polls, and resolves with the first value that is neither false nor null. Throws after the time-out. */
export async function until<T>(
  probe: () => T | false | null | Promise<T | false | null>,
  timeoutMs: number,
  what: string,
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const value = await probe();
    if (value !== false && value !== null) return value;
    if (Date.now() > deadline) throw new Error(`waited ${timeoutMs} ms in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
