/** A request that a client has sent. */
type SentRequest = {
  method: string;
  /** Path of the URL, without the query. */
  path: string;
  encoding: string | null;
  /** Whether the body was sent in chunks, without a length. */
  isStreamed: boolean;
};

export type RecordedFetch = { fetch: typeof fetch; sent: SentRequest[] };

/** Returns a `fetch` that records requests before it makes them. `around` may change answers, or make no request. */
export function recordedFetch(
  around: (path: string, ask: () => Promise<Response>) => Promise<Response> = (_, ask) => ask(),
): RecordedFetch {
  const sent: SentRequest[] = [];
  return {
    sent,
    fetch: (input, init) => {
      const url = new URL(input instanceof Request ? input.url : input);
      const headers = new Headers(init?.headers);
      sent.push({
        method: init?.method ?? "GET",
        path: url.pathname,
        encoding: headers.get("content-encoding"),
        isStreamed: init?.body instanceof ReadableStream,
      });
      return around(url.pathname, () => fetch(input, init));
    },
  };
}
