import type { RecordedRequest } from "./recorded-requests.ts";

export type Target = { url: string; headers: Record<string, string> };

/** Posts each request once, `concurrency` at a time, and returns the total time in milliseconds. */
export async function replay(
  target: Target,
  requests: readonly RecordedRequest[],
  concurrency: number,
): Promise<number> {
  const waiting = requests.values();
  const startedAt = performance.now();
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      for (const request of waiting) await post(target, request);
    }),
  );
  return performance.now() - startedAt;
}

async function post({ url, headers }: Target, request: RecordedRequest): Promise<void> {
  const { contentType, contentEncoding, body } = request;
  const response = await fetch(url, {
    method: "POST",
    headers: {
      ...headers,
      "content-type": contentType,
      ...(contentEncoding === undefined ? {} : { "content-encoding": contentEncoding }),
    },
    body,
  });
  const answer = await response.text();
  if (response.status !== 202) throw new Error(`${url} gave ${response.status}: ${answer}`);
}
