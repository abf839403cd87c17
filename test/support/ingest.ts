import type { ExpectStatic } from "vitest";
import { answerOf, toAnswer } from "./http.ts";
import { multipartBody, type Part } from "./multipart.ts";
import type { TestServer } from "./server.ts";
import { type RunData, runData } from "./trace-data.ts";
import { tracingWorkspace, type TracingWorkspace } from "./tracing.ts";

type Body = string | Uint8Array | ReadableStream<Uint8Array>;

export type IngestAnswer = { status: number; body: unknown };

/** A workspace, with requests to its ingest routes whose bodies no client would send. */
export type IngestWorkspace = TracingWorkspace & {
  post: (path: string, body: Body, headers?: Record<string, string>) => Promise<IngestAnswer>;
  batch: (body: unknown) => Promise<IngestAnswer>;
  /** `change` gets the body as Latin-1. */
  multipart: (parts: readonly Part[], change?: (body: string) => string) => Promise<IngestAnswer>;
  /** Returns the ids of those runs that a query finds immediately. */
  stored: (runs: readonly { id: string }[]) => Promise<string[]>;
};

export async function ingestWorkspace(server: TestServer, name: string): Promise<IngestWorkspace> {
  const workspace = await tracingWorkspace(server, name);
  const post: IngestWorkspace["post"] = async (path, body, headers = {}) => {
    const response = await server.fetch(`/api/v1${path}`, {
      method: "POST",
      headers: { "x-api-key": workspace.apiKey, ...headers },
      body,
      duplex: "half",
    } as RequestInit);
    return answerOf(toAnswer(response));
  };
  return {
    ...workspace,
    post,
    batch: (body) => post("/runs/batch", typeof body === "string" ? body : JSON.stringify(body)),
    multipart: (parts, change = (body) => body) => {
      const { body, contentType } = multipartBody(parts);
      const changed = Buffer.from(change(body.toString("latin1")), "latin1");
      return post("/runs/multipart", changed, { "content-type": contentType });
    },
    stored: async (runs) => {
      const ids = runs.map(({ id }) => id);
      const response = await workspace.api("POST", "/runs/query", { id: ids, select: ["id"] });
      const found = (await response.json()) as { runs: { id: string }[] };
      const stored = new Set(found.runs.map(({ id }) => id));
      return ids.filter((id) => stored.has(id));
    },
  };
}

/** Returns the main part of a run. */
export function runPart(run: RunData, kind: "post" | "patch" = "post"): Part {
  return { name: `${kind}.${run.id}`, body: JSON.stringify(run) };
}

/** Returns the part of a field that clients send separately; `json` is text. */
export function fieldPart({ id }: { id: string }, field: string, json: string | Uint8Array): Part {
  return { name: `post.${id}.${field}`, body: json };
}

export const ACCEPTED: IngestAnswer = { status: 202, body: { message: "Runs accepted" } };

/** Returns the answer to a request of which some runs were refused. */
export function refused(
  accepted: number,
  errors: { run_id: string | null; field: string; message: string }[],
  status = 422,
): IngestAnswer {
  const [first] = errors;
  const more = errors.length - 1;
  const detail = more === 0 ? first?.message : `${first?.message} (and ${more} more)`;
  return { status, body: { detail, errors, failed: errors.length, accepted } };
}

/** Compares only the fields of a run that `expected` has. */
export async function expectRun(
  expect: ExpectStatic,
  { api }: IngestWorkspace,
  id: string,
  expected: Record<string, unknown>,
): Promise<void> {
  const response = await api("GET", `/runs/${id}`);
  const run = (await response.json()) as Record<string, unknown>;
  const read = Object.keys(expected).map((field) => [field, run[field]]);
  expect(Object.fromEntries(read)).toEqual(expected);
}

/** Returns the error of a request that could not be read to its end. */
export function brokenOff(message: string) {
  return { run_id: null, field: "body", message };
}

/** Returns three runs and their parts. */
export function threeRuns(): { runs: [RunData, RunData, RunData]; parts: Part[] } {
  const runs: [RunData, RunData, RunData] = [runData("x"), runData("x"), runData("x")];
  return { runs, parts: runs.map((run) => runPart(run)) };
}
