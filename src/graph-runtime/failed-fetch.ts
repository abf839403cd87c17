/** The whole message of the runtime for a failure whose reason it does not tell, such as an unknown host. */
const UNEXPLAINED = /^internal error; reference = /;

/**
 * Returns a `fetch` whose errors name the address: the runtime's own say "Network connection lost.", or nothing but
 * "internal error". They stay the same objects in all else, as callers decide by it whether to try again.
 */
export function namingFailures(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return async (input, init) => {
    try {
      return await fetch(input, init);
    } catch (error) {
      const origin = originOf(input);
      if (error instanceof Error && origin !== null && error.name !== "AbortError") {
        const { message, stack } = error;
        error.message = UNEXPLAINED.test(message)
          ? `fetch failed: no host of this name, or no connection that TLS accepts (${message}): ${origin}`
          : `${message.replace(/\.$/, "")}: ${origin}`;
        if (stack !== undefined) error.stack = stack.replace(message, () => error.message);
      }
      throw error;
    }
  };
}

/** Returns the address without path and query, which can contain secrets; null if there is none. */
function originOf(input: RequestInfo | URL): string | null {
  const url = URL.parse(input instanceof Request ? input.url : String(input));
  return url === null ? null : url.origin;
}

globalThis.fetch = namingFailures(globalThis.fetch);
