import { UNEXPLAINED } from "../lib/error-text.ts";

const NO_CONNECTION = "fetch failed: no host of this name, or no connection that TLS accepts";

const LOST = "Network connection lost.";

/**
 * Returns a `fetch` whose errors name the address where the runtime's own do not. They stay the same objects, as callers
 * decide by them whether to try again.
 */
export function namingFailures(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return async (input, init) => {
    try {
      return await fetch(input, init);
    } catch (error) {
      const origin = originOf(input);
      if (error instanceof Error && origin !== null) nameAddress(error, origin);
      throw error;
    }
  };
}

/** Leaves other errors alone: the reason of an abort is the caller's own. */
function nameAddress(error: Error, origin: string): void {
  const { message, stack } = error;
  if (message === LOST) error.message = `Network connection lost: ${origin}`;
  else if (UNEXPLAINED.test(message)) error.message = `${NO_CONNECTION} (${message}): ${origin}`;
  else return;
  if (stack !== undefined) error.stack = stack.replace(message, () => error.message);
}

/** Returns the address without path and query, which can contain secrets; null if there is none. */
function originOf(input: RequestInfo | URL): string | null {
  const url = URL.parse(input instanceof Request ? input.url : String(input));
  return url === null ? null : url.origin;
}

globalThis.fetch = namingFailures(globalThis.fetch);
