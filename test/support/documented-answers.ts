import { setTimeout } from "node:timers/promises";
import { readLimited } from "../../src/lib/bytes.ts";
import { AnswerChecks } from "../verify/fuzz/answers.ts";
import { type Operation, operationsOf, readDocument } from "../verify/fuzz/document.ts";

/** Longer bodies are not compared: they are lists of what shorter ones have too. */
const MAX_BYTES = 1024 * 1024;

type Documented = { checks: AnswerChecks; operations: [pattern: RegExp, operation: Operation][] };

/** By origin; what was there before is not asked again when a port is. */
const servers = new Map<string, Promise<Documented | null>>();

const comparisons = new Set<Promise<void>>();
const problems: string[] = [];

/** From now on what this server answers is compared with its document. The result ends that. */
export function watchAnswers(origin: string): () => void {
  servers.set(origin, documented(origin));
  return () => servers.delete(origin);
}

/** Null for a server that has no document: one of traces alone, for instance. */
async function documented(origin: string): Promise<Documented | null> {
  const document = await readDocument(origin).catch(() => null);
  if (document === null) return null;
  const operations = operationsOf(document)
    // Named segments before parameters: `/threads/search` is no thread.
    .toSorted((left, right) => parameters(left.path) - parameters(right.path))
    .map((operation): [RegExp, Operation] => [patternOf(operation.path), operation]);
  return { checks: new AnswerChecks(closed(document)), operations };
}

/** The document with objects that have the members it names and no others, so that each member has to be named. */
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
  // Errors of the server itself are what some tests make, and what was answered before it was reached is not its own.
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

/** Null when it is too long, or broken off. */
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
 * Whether an answer is not the platform's own but its project's app's, or a stream: a copy of one that nobody reads to
 * its end would keep it from being cancelled.
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

/** What was wrong with answers since this was last asked. Those that still come are waited for, up to `graceMs`. */
export async function wrongAnswers(graceMs: number): Promise<string[]> {
  await Promise.race([Promise.all(comparisons), setTimeout(graceMs)]);
  return problems.splice(0);
}
