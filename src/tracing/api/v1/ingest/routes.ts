import { createRoute, z } from "@hono/zod-openapi";
import { v7 as uuidv7 } from "uuid";
import type { AppContext } from "../../../../http/app-types.ts";
import { ApiError, invalidField } from "../../../../lib/api-error.ts";
import { noteIgnored } from "../../../../http/ignored-fields.ts";
import { createRouter } from "../../../../http/router.ts";
import type { NoteUnknown } from "../../../../lib/unknown-members.ts";
import { feedbackDeps } from "../../../feedback/feedback-shards.ts";
import type { RunWrite } from "../../../model/run-write.ts";
import { runIdParam } from "../params.ts";
import { decodeBatch } from "../../../ingest/decode/batch-body.ts";
import { InvalidRun, type RunFailure } from "../../../ingest/decode/invalid-run.ts";
import { InvalidJson, parseJsonValue } from "../../../ingest/decode/json-value.ts";
import { decodeMultipartRuns } from "../../../ingest/decode/multipart-runs.ts";
import { collectRequestBody, readRequestBody } from "../../../ingest/decode/request-body.ts";
import {
  readRunJson,
  type ReadRunOptions,
  type UnnamedRun,
} from "../../../ingest/decode/run-body.ts";
import { parseFeedbackBody } from "../feedback/feedback-body.ts";
import { IngestSession } from "../../../ingest/ingest-session.ts";
import { ReceivedAttachments } from "../../../ingest/received-attachments.ts";
import { ReceivedFeedback, storeMultipart } from "../../../ingest/store-multipart.ts";
import { STATUS_OF } from "../../../../http/render-errors.ts";

const MAX_LISTED_FAILURES = 100;

const ingestFailuresSchema = z
  .object({
    detail: z.string(),
    errors: z.array(
      z.object({ run_id: z.string().nullable(), field: z.string(), message: z.string() }),
    ),
    failed: z.int(),
    accepted: z.int(),
  })
  .openapi("IngestFailures");

function failed(description: string) {
  const shapes = ["IngestFailures", "HTTPValidationError", "ErrorResponse"];
  const anyOf = shapes.map((shape) => ({ $ref: `#/components/schemas/${shape}` }));
  return { description, content: { "application/json": { schema: { anyOf } } } };
}

/** Error responses of a request with any number of runs, not all of which were stored. */
const INGEST_FAILURES = {
  400: failed("The body is truncated or cannot be read"),
  413: failed("The body, or one of its parts, is too large"),
  415: failed("The body has an unsupported content type"),
  422: failed("Some runs cannot be stored; the others were"),
};

/** The routes that receive runs. They read their bodies themselves, because these are compressed and streamed. */
export const ingestRoutes = createRouter();

ingestRoutes.openAPIRegistry.register("IngestFailures", ingestFailuresSchema);

const MAX_PARTS = 100_000;

const accepted = {
  202: {
    description: "Stored",
    content: {
      "application/json": {
        // The id is set only for a run that was sent without one.
        schema: z.object({ message: z.string(), id: z.string().optional() }),
      },
    },
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
  async (c) => (await storeOne(c, "post", { unnamed: unnamedRun() })) as never,
);

ingestRoutes.openapi(
  createRoute({
    method: "patch",
    path: "/runs/{run_id}",
    tags: ["Ingest"],
    summary: "Update a run",
    request: { params: z.object({ run_id: runIdParam() }) },
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
    responses: { ...accepted, ...INGEST_FAILURES },
  }),
  async (c) => {
    const { writes, failures } = decodeBatch(await readBody(c), unknownOf(c));
    const session = sessionOf(c);
    for (const failure of failures) session.failures.push(failure);
    for (const write of writes) await session.add(write);
    await session.flush();
    return ingestResponse(c, session) as never;
  },
);

ingestRoutes.openapi(
  createRoute({
    method: "post",
    path: "/runs/multipart",
    tags: ["Ingest"],
    summary: "Create and update runs, with attachments and feedback",
    responses: { ...accepted, ...INGEST_FAILURES },
  }),
  async (c) => {
    const { settings, scope } = c.var;
    const session = sessionOf(c);
    const items = decodeMultipartRuns(
      readRequestBody(c.req.raw, { maxBytes: settings.maxIngestBytes }),
      c.req.header("content-type") ?? null,
      { maxParts: MAX_PARTS, maxPartBytes: settings.maxPartBytes },
      unknownOf(c),
    );
    const broken = await storeMultipart(items, {
      session,
      attachments: new ReceivedAttachments(c.env, scope.workspaceId, settings.maxIngestBytes),
      feedback: new ReceivedFeedback(feedbackDeps(c.env), scope.workspaceId, (value, id) =>
        parseFeedbackBody(value, id, ({ path, keys }) =>
          noteIgnored(c, [{ path: ["feedback", 0, ...path], keys }]),
        ),
      ),
    });
    return ingestResponse(c, session, broken) as never;
  },
);

type OneRunOptions = Pick<ReadRunOptions, "id" | "unnamed" | "onUnknown">;

function unnamedRun(): UnnamedRun {
  return { id: uuidv7(), startTime: Date.now() * 1000 };
}

async function storeOne(
  c: AppContext,
  kind: RunWrite["kind"],
  options: OneRunOptions,
): Promise<Response> {
  const session = sessionOf(c);
  const onUnknown = (keys: string[]) => noteIgnored(c, [{ path: [], keys }]);
  const write = readOne(await readBody(c), kind, { ...options, onUnknown });
  await session.add(write);
  await session.flush();
  const [failure] = session.failures;
  const isUnnamed = write.id === options.unnamed?.id;
  if (failure === undefined) return acceptedResponse(c, isUnnamed ? write.id : undefined);
  if (failure.status === 404) throw new ApiError("not_found", failure.message);
  throw invalidField(["body", failure.field], failure.message, "invalid_run");
}

function readOne(bytes: Uint8Array, kind: RunWrite["kind"], options: OneRunOptions): RunWrite {
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

function unknownOf(c: AppContext): NoteUnknown {
  return (members) => noteIgnored(c, [members]);
}

function sessionOf(c: AppContext): IngestSession {
  return new IngestSession(c.env, c.var.scope.workspaceId, (promise) =>
    c.executionCtx.waitUntil(promise),
  );
}

function readBody(c: AppContext): Promise<Uint8Array> {
  return collectRequestBody(c.req.raw, { maxBytes: c.var.settings.maxPartBytes });
}

type Problem = { run_id: string | null; field: string; message: string };

/**
 * Returns the response to a request with any number of runs: 202 if everything was stored. Otherwise it
 * lists up to `MAX_LISTED_FAILURES` failures, starting with the error that broke off the request. Runs
 * before that error that did not fail are stored, so that clients need not send them again.
 */
function ingestResponse(
  c: AppContext,
  result: { accepted: number; failures: readonly RunFailure[] },
  broken: ApiError | null = null,
): Response {
  const { accepted, failures } = result;
  const errors: Problem[] = failures
    .slice(0, MAX_LISTED_FAILURES)
    .map(({ runId, field, message }) => ({ run_id: runId, field, message }));
  if (broken !== null) {
    errors.unshift({ run_id: null, field: "body", message: broken.message });
  }
  const [first] = errors;
  if (first === undefined) return acceptedResponse(c);
  const failed = failures.length + (broken === null ? 0 : 1);
  const detail = failed === 1 ? first.message : `${first.message} (and ${failed - 1} more)`;
  return c.json(
    { detail, errors, failed, accepted },
    // Never 404: a client that gets it from the multipart route concludes that the route does not exist.
    broken === null ? 422 : STATUS_OF[broken.code],
  );
}

/** `madeId` is the id that was generated for a run sent without one. */
function acceptedResponse(c: AppContext, madeId?: string): Response {
  return c.json({ message: "Runs accepted", ...(madeId !== undefined && { id: madeId }) }, 202);
}
