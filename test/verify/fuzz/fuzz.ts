import fc from "fast-check";
import type { PartResult, Target } from "../part.ts";
import { Problems } from "../part.ts";
import { AnswerChecks, type FuzzAnswer } from "./answers.ts";
import { operationsOf, readDocument } from "./document.ts";
import { PathIdPool } from "./path-id-pool.ts";
import { type FuzzRequest, requestsFor } from "./requests.ts";

/** Number of rounds, each of which uses ids from the answers of earlier ones. */
const ROUNDS = 20;
const CONCURRENCY = 8;

/** Time after which a stream is closed; its status has arrived by then, and its end cannot be foreseen. */
const STREAM_MS = 1000;

/** Operations that delete or fill what other requests need, or wait as long as they are told to. */
const LEFT_OUT = new Set([
  "DELETE /api/v1/sessions",
  "DELETE /v2/deployments",
  "GET /v2/auth/wait/{auth_id}",
]);

export type FuzzOptions = {
  seed: number;
  requests: number;
  /** Maximum milliseconds for an answer. */
  hangMs: number;
  /** Initial ids, by the names of parameters. */
  ids: Record<string, string>;
};

/**
 * Sends valid and invalid requests to every documented operation. No answer may be a 5xx, take too long, or differ
 * from the document. The same seed makes the same requests, as far as the platform generates the same ids.
 */
export async function fuzz(target: Target, options: FuzzOptions): Promise<PartResult> {
  const document = await readDocument(target.url);
  const operations = operationsOf(document).filter(
    ({ method, path }) => !LEFT_OUT.has(`${method} ${path}`),
  );
  const checks = new AnswerChecks(document);
  const ids = new PathIdPool(options.ids);
  const problems = new Problems();
  const statuses = new Map<string, number>();
  let slowestMs = 0;
  let sent = 0;

  const each = Math.ceil(options.requests / ROUNDS / operations.length);
  for (let round = 0; round < ROUNDS && sent < options.requests; round += 1) {
    const requests = operations.flatMap((operation, index) =>
      fc
        .sample(requestsFor(operation, { document, ids: ids.known() }), {
          numRuns: each,
          seed: options.seed + round * operations.length + index,
        })
        .map((request) => ({ operation, request })),
    );
    sent += requests.length;
    await inParallel(shuffled(requests, options.seed + round), async ({ operation, request }) => {
      const startedAt = performance.now();
      const name = `${operation.method} ${operation.path}`;
      const text = `${request.method} ${request.target.slice(0, 500)} ${(request.body ?? "").slice(0, 1000)}`;
      try {
        const answer = await send(target, request, options.hangMs);
        const problem = checks.problemOf(operation, answer);
        if (problem !== null)
          problems.add(`${name} ${problem.slice(0, 60)}`, `${text}\n    ${problem}`);
        ids.learn(operation.path, answer);
        const group = `${Math.floor(answer.status / 100)}xx`;
        statuses.set(group, (statuses.get(group) ?? 0) + 1);
      } catch (error) {
        problems.add(`${name} no answer`, `${text}\n    no answer: ${String(error)}`);
      }
      slowestMs = Math.max(slowestMs, performance.now() - startedAt);
    });
  }
  return {
    figures: [
      ["requests", String(sent)],
      ["operations", String(operations.length)],
      ...[...statuses]
        .toSorted(([a], [b]) => a.localeCompare(b))
        .map(([group, count]): [string, string] => [group, String(count)]),
      ["slowest answer", `${Math.round(slowestMs)} ms`],
      ["wrong answers", String(problems.count)],
    ],
    problems: problems.list(),
  };
}

async function send(
  { url, apiKey }: Target,
  { method, target, headers, body }: FuzzRequest,
  hangMs: number,
): Promise<FuzzAnswer> {
  const stop = new AbortController();
  const hang = setTimeout(() => stop.abort(new Error(`nothing for ${hangMs} ms`)), hangMs);
  try {
    const response = await fetch(url + target, {
      method,
      headers: { "x-api-key": apiKey, ...headers },
      redirect: "manual",
      signal: stop.signal,
      ...(body === undefined ? {} : { body }),
    });
    const type = response.headers.get("content-type") ?? "";
    const { status } = response;
    if (type.startsWith("text/event-stream")) {
      const text = await startOf(response);
      return { status, type, text };
    }
    return { status, type, text: await response.text() };
  } finally {
    clearTimeout(hang);
    stop.abort();
  }
}

async function startOf(response: Response): Promise<string> {
  const reader = response.body?.getReader();
  if (reader === undefined) return "";
  const timer = setTimeout(() => void reader.cancel(), STREAM_MS);
  const decoder = new TextDecoder();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    text += decoder.decode(value, { stream: true });
  }
  clearTimeout(timer);
  return text;
}

async function inParallel<T>(items: T[], use: (item: T) => Promise<void>): Promise<void> {
  const left = items.values();
  await Promise.all(
    Array.from({ length: CONCURRENCY }, async () => {
      for (const item of left) await use(item);
    }),
  );
}

/** Shuffles the items, so that deletions do not come together. */
function shuffled<T>(items: T[], seed: number): T[] {
  const [order = []] = fc.sample(fc.shuffledSubarray(items, { minLength: items.length }), {
    numRuns: 1,
    seed,
  });
  return order;
}
