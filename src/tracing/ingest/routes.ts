import { createRoute, z } from "@hono/zod-openapi";
import type { AppContext } from "../../http/app-types.ts";
import { invalidField } from "../../http/errors.ts";
import { uuidParam } from "../../http/path-params.ts";
import { createRouter } from "../../http/router.ts";
import { parseFeedbackBody } from "../feedback/feedback-input.ts";
import { feedbackDeps } from "../feedback/feedback-shards.ts";
import { recordFeedback } from "../feedback/record-feedback.ts";
import type { RunWrite } from "../run-write.ts";
import { decodeBatch } from "./decode/batch-body.ts";
import { InvalidRun, malformed } from "./decode/invalid-run.ts";
import { InvalidJson, parseJsonValue } from "./decode/json-value.ts";
import { decodeMultipartRuns } from "./decode/multipart-runs.ts";
import { collectRequestBody, readRequestBody } from "./decode/request-body.ts";
import { readRunJson } from "./decode/run-json.ts";
import { ingestAnswer } from "./ingest-answer.ts";
import { IngestSession } from "./ingest-session.ts";
import { ReceivedAttachments } from "./received-attachments.ts";

/** The routes by which runs come in. They read their bodies themselves: compressed, and streaming. */
export const ingestRoutes = createRouter();

const MAX_PARTS = 100_000;

const accepted = {
  202: {
    description: "Stored",
    content: { "application/json": { schema: z.object({ message: z.string() }) } },
  },
};

ingestRoutes.openapi(
  createRoute({
    method: "post",
    path: "/runs",
    tags: ["Ingest"],
    summary: "Create a run",
    responses: accepted,
  }),
  async (c) => (await storeOne(c, "post", {})) as never,
);

ingestRoutes.openapi(
  createRoute({
    method: "patch",
    path: "/runs/{run_id}",
    tags: ["Ingest"],
    summary: "Update a run",
    request: { params: z.object({ run_id: uuidParam() }) },
    responses: accepted,
  }),
  async (c) => (await storeOne(c, "patch", { id: c.req.valid("param").run_id })) as never,
);

ingestRoutes.openapi(
  createRoute({
    method: "post",
    path: "/runs/batch",
    tags: ["Ingest"],
    summary: "Create and update runs",
    responses: accepted,
  }),
  async (c) => {
    const { writes, failures } = decodeBatch(await readBody(c));
    const session = sessionOf(c);
    session.failures.push(...failures);
    for (const write of writes) await session.add(write);
    await session.flush();
    return ingestAnswer(c, session) as never;
  },
);

ingestRoutes.openapi(
  createRoute({
    method: "post",
    path: "/runs/multipart",
    tags: ["Ingest"],
    summary: "Create and update runs, with attachments and feedback",
    responses: accepted,
  }),
  async (c) => {
    const { settings, scope } = c.var;
    const session = sessionOf(c);
    const attachments = new ReceivedAttachments(c.env.PAYLOADS, scope.workspaceId);
    const feedback: { id: string; value: unknown }[] = [];
    const items = decodeMultipartRuns(
      readRequestBody(c.req.raw, { maxBytes: settings.maxIngestBytes }),
      c.req.header("content-type") ?? null,
      { maxParts: MAX_PARTS, maxPartBytes: settings.maxPartBytes },
    );
    try {
      for await (const item of items) {
        if (item.type === "write") await session.add(attachments.addTo(item.write));
        else if (item.type === "failure") session.failures.push(item.failure);
        else if (item.type === "attachment") await attachments.receive(item);
        else feedback.push({ id: item.id, value: item.value });
      }
      for (const write of attachments.remaining()) await session.add(write);
    } finally {
      // What came before a break is complete, and stays.
      await session.flush();
    }
    await storeFeedback(c, session, feedback);
    await attachments.discardOf(session.failures);
    return ingestAnswer(c, session) as never;
  },
);

async function storeOne(
  c: AppContext,
  kind: RunWrite["kind"],
  options: { id?: string },
): Promise<Response> {
  const session = sessionOf(c);
  await session.add(readOne(await readBody(c), kind, options));
  await session.flush();
  return ingestAnswer(c, session);
}

function readOne(bytes: Uint8Array, kind: RunWrite["kind"], options: { id?: string }): RunWrite {
  try {
    return readRunJson(kind, parseJsonValue(bytes), { ...options, identity: "optional" });
  } catch (error) {
    if (error instanceof InvalidRun) {
      const loc = error.field === "" ? ["body"] : ["body", error.field];
      throw invalidField(loc, error.message, "invalid_run");
    }
    if (!(error instanceof InvalidJson)) throw error;
    throw invalidField(["body"], `the body ${error.message}`, "json_invalid");
  }
}

async function storeFeedback(
  c: AppContext,
  session: IngestSession,
  received: readonly { id: string; value: unknown }[],
): Promise<void> {
  const inputs = received.flatMap(({ id, value }) => {
    try {
      return [parseFeedbackBody(value, id)];
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      session.failures.push(malformed(null, `feedback.${id}`, message));
      return [];
    }
  });
  if (inputs.length === 0) return;
  for (const outcome of await recordFeedback(
    feedbackDeps(c.env),
    c.var.scope.workspaceId,
    inputs,
  )) {
    if (outcome.ok) continue;
    session.failures.push(
      malformed(null, `feedback.${outcome.id}`, `${outcome.field}: ${outcome.message}`),
    );
  }
}

function sessionOf(c: AppContext): IngestSession {
  return new IngestSession(c.env, c.var.scope.workspaceId, (promise) =>
    c.executionCtx.waitUntil(promise),
  );
}

function readBody(c: AppContext): Promise<Uint8Array> {
  return collectRequestBody(c.req.raw, { maxBytes: c.var.settings.maxPartBytes });
}
