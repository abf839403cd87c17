import { setTimeout } from "node:timers/promises";
import { readLimited } from "../../src/lib/bytes.ts";
import { AnswerChecks } from "../verify/fuzz/answers.ts";
import { type Operation, operationsOf, readDocument } from "../verify/fuzz/document.ts";

/** Longer bodies are not compared: they are lists of items that shorter ones have, too. */
const MAX_BYTES = 1024 * 1024;

type Documented = { checks: AnswerChecks; operations: [pattern: RegExp, operation: Operation][] };

/** The watched servers, keyed by origin. A reused port gets a new entry. */
const servers = new Map<string, Promise<Documented | null>>();

const comparisons = new Set<Promise<void>>();
const problems: string[] = [];

/** Starts comparing the answers of this server with its document. Returns a function that stops it. */
export function watchAnswers(origin: string): () => void {
  servers.set(origin, documented(origin));
  return () => servers.delete(origin);
}

/** Returns null for a server without a document, such as one of traces alone. */
async function documented(origin: string): Promise<Documented | null> {
  const document = await readDocument(origin).catch(() => null);
  if (document === null) return null;
  const operations = operationsOf(document)
    // Literal segments come before parameters: in `/threads/search`, `search` is no thread id.
    .toSorted((left, right) => parameters(left.path) - parameters(right.path))
    .map((operation): [RegExp, Operation] => [patternOf(operation.path), operation]);
  return { checks: new AnswerChecks(closed(document)), operations };
}

/**
 * Returns the document with closed objects, which have no other members than those listed, so that each must be
 * listed.
 */
function closed<T>(value: T): T {
  return JSON.parse(JSON.stringify(value), (_, schema: unknown) =>
    typeof schema === "object" &&
    schema !== null &&
    "type" in schema &&
    schema.type === "object" &&
    "properties" in schema
      ? { additionalProperties: false, ...schema }
      : schema,
  );
}

function parameters(path: string): number {
  return path.split("{").length;
}

function patternOf(path: string): RegExp {
  const steps = path.split(/\{[^}]+\}/).map((step) => step.replaceAll(/[.\\]/g, "\\$&"));
  return new RegExp(`^${steps.join("[^/]+")}/?$`);
}

async function problemOf(
  request: { url: string; method: string },
  response: Response,
): Promise<string | null> {
  const { origin, pathname } = new URL(request.url);
  // Some tests cause server errors, and answers without a request id come from something in front of the server.
  if (response.status >= 500 || !response.headers.has("x-request-id")) return null;
  const known = await servers.get(origin);
  const [, operation] =
    known?.operations.find(
      ([pattern, { method }]) => method === request.method && pattern.test(pathname),
    ) ?? [];
  if (!known || operation === undefined) return null;
  const type = response.headers.get("content-type") ?? "";
  const { status } = response;
  const bytes = await bodyOf(response);
  if (bytes === null) return null;
  const text = new TextDecoder().decode(bytes);
  const problem = known.checks.problemOf(operation, { status, type, text });
  return problem === null ? null : `${request.method} ${pathname} ${problem}`;
}

/** Returns null when the body is too long or aborted. */
async function bodyOf(response: Response): Promise<Uint8Array | null> {
  if (response.body === null) return new Uint8Array();
  return readLimited(response.body, MAX_BYTES).catch(() => null);
}

const { fetch } = globalThis;

globalThis.fetch = async (...input: Parameters<typeof globalThis.fetch>): Promise<Response> => {
  const [asked, init] = input;
  const response = await fetch(...input);
  const url = asked instanceof Request ? asked.url : String(asked);
  const method = init?.method ?? (asked instanceof Request ? asked.method : "GET");
  if (servers.has(new URL(url).origin) && !isNotCompared(response)) {
    const copy = response.clone();
    const left = (): void => void (copy.bodyUsed || copy.body?.cancel());
    note(problemOf({ url, method }, copy).finally(left));
  }
  return response;
};

/**
 * Returns whether an answer is that of the project's app rather than the platform's, or a stream: an unread copy of a
 * stream would keep it from being cancelled.
 */
function isNotCompared({ headers }: Response): boolean {
  const isStream = headers.get("content-type")?.startsWith("text/event-stream") === true;
  return isStream || headers.has("x-of-app");
}

function note(comparison: Promise<string | null>): void {
  const noted = comparison.then((problem) => {
    if (problem !== null) problems.push(problem);
    comparisons.delete(noted);
  });
  comparisons.add(noted);
}

/** Returns the problems of answers since the last call. Waits for pending comparisons, up to `graceMs`. */
export async function wrongAnswers(graceMs: number): Promise<string[]> {
  await Promise.race([Promise.all(comparisons), setTimeout(graceMs)]);
  return problems.splice(0);
}
