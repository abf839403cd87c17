import { jsonBodyOf, jsonResponse } from "../../../../http/json-body.ts";
import { createRoute, z } from "@hono/zod-openapi";
import { findFeedback, readFeedback } from "../../../../db/feedback-pages.ts";
import {
  type FeedbackTokenRow,
  insertFeedbackTokens,
  listFeedbackTokens,
} from "../../../../db/feedback-tokens-repo.ts";
import type { AppContext } from "../../../../http/app-types.ts";
import { uuidParam } from "../../../../http/path-params.ts";
import { createRouter } from "../../../../http/router.ts";
import { invalidField } from "../../../../lib/api-error.ts";
import { jsonListOf } from "../../../../lib/json-answer.ts";
import {
  changeFeedback,
  removeFeedback,
  requireFeedback,
} from "../../../feedback/change-feedback.ts";
import { feedbackDeps } from "../../../feedback/feedback-shards.ts";
import { feedbackLink, newFeedbackToken } from "../../../feedback/feedback-token.ts";
import { recordFeedback } from "../../../feedback/record-feedback.ts";
import { refusalError, requireInput } from "./feedback-body.ts";
import {
  type FeedbackCreate,
  feedbackCreateSchema,
  feedbackListQuery,
  feedbackReadQuery,
  feedbackSchema,
  feedbackUpdateSchema,
  feedbackTokenListQuery,
  tokenSchema,
  tokensCreateSchema,
} from "./schemas.ts";
import { toIso } from "../../../../lib/time.ts";
import type { FeedbackRow } from "../../../../db/feedback-repo.ts";

const DEFAULT_LIMIT = 100;

export const feedbackRoutes = createRouter();

const params = z.object({ feedback_id: uuidParam() });

const tags = ["Feedback"];

const oneFeedback = {
  description: "The feedback",
  content: { "application/json": { schema: feedbackSchema } },
};

feedbackRoutes.openapi(
  createRoute({
    method: "post",
    path: "/feedback",
    tags,
    summary: "Create feedback, or replace the one with its id",
    request: { body: jsonBodyOf(feedbackCreateSchema) },
    responses: { 200: oneFeedback },
  }),
  async (c) => c.json(await record(c, c.req.valid("json")), 200),
);

feedbackRoutes.openapi(
  createRoute({
    method: "post",
    path: "/feedback/eager",
    tags,
    summary: "Create feedback on a run that is known to exist",
    request: { body: jsonBodyOf(feedbackCreateSchema) },
    responses: { 200: oneFeedback },
  }),
  async (c) => c.json(await record(c, c.req.valid("json")), 200),
);

feedbackRoutes.openapi(
  createRoute({
    method: "get",
    path: "/feedback",
    tags,
    summary: "List feedback, newest first",
    request: { query: feedbackListQuery },
    responses: {
      200: {
        description: "The feedback of the page",
        content: { "application/json": { schema: z.array(feedbackSchema) } },
      },
    },
  }),
  async (c) => {
    const query = c.req.valid("query");
    const filter = {
      runIds: query.run,
      sessionIds: query.session,
      keys: query.key,
      sources: query.source,
      userIds: query.user,
      hasComment: query.has_comment,
      hasScore: query.has_score,
      level: query.level,
      // Rows store whole milliseconds.
      from: query.min_created_at && Math.ceil(query.min_created_at / 1000),
      to: query.max_created_at && Math.floor(query.max_created_at / 1000),
      comparativeExperimentId: query.comparative_experiment_id,
    };
    const page = { limit: query.limit ?? DEFAULT_LIMIT, offset: query.offset ?? 0 };
    const { workspaceId } = c.var.scope;
    const found = await findFeedback(c.env.DB, workspaceId, filter, page);
    if (found === null) throw tooMuchFeedback();
    const rows = readFeedback(c.env.DB, workspaceId, found);
    // A long response is streamed, and the router cannot check a stream.
    return jsonResponse(c, await jsonListOf(rows, toFeedbackJson)) as never;
  },
);

feedbackRoutes.openapi(
  createRoute({
    method: "post",
    path: "/feedback/tokens",
    tags,
    summary: "Create links that accept feedback without an API key",
    request: { body: jsonBodyOf(tokensCreateSchema) },
    responses: {
      200: {
        description: "The token, or a list of tokens if the request is a list",
        content: { "application/json": { schema: z.union([tokenSchema, z.array(tokenSchema)]) } },
      },
    },
  }),
  async (c) => {
    const body = c.req.valid("json");
    const bodies = Array.isArray(body) ? body : [body];
    const { workspaceId } = c.var.scope;
    const rows = bodies.map((one) => newFeedbackToken(workspaceId, one, Date.now()));
    await insertFeedbackTokens(c.env.DB, rows);
    const tokens = rows.map((row) => toFeedbackTokenJson(row, c.req.url));
    const [first] = tokens;
    return c.json(Array.isArray(body) || first === undefined ? tokens : first, 200);
  },
);

feedbackRoutes.openapi(
  createRoute({
    method: "get",
    path: "/feedback/tokens",
    tags,
    summary: "List the links to a run's feedback, newest first",
    request: { query: feedbackTokenListQuery },
    responses: {
      200: {
        description: "The tokens of the page",
        content: { "application/json": { schema: z.array(tokenSchema) } },
      },
    },
  }),
  async (c) => {
    const { run_id: runId, limit = DEFAULT_LIMIT, offset = 0 } = c.req.valid("query");
    const { workspaceId } = c.var.scope;
    const rows = await listFeedbackTokens(c.env.DB, workspaceId, runId, { limit, offset });
    return c.json(
      rows.map((row) => toFeedbackTokenJson(row, c.req.url)),
      200,
    );
  },
);

for (const path of ["/feedback/formulas", "/feedback/formulas/:id"]) {
  feedbackRoutes.all(path, (c) =>
    c.json({ detail: "Composite feedback formulas are no longer supported" }, 410),
  );
}

feedbackRoutes.openapi(
  createRoute({
    method: "get",
    path: "/feedback/{feedback_id}",
    tags,
    summary: "Get feedback",
    request: { params, query: feedbackReadQuery },
    responses: { 200: oneFeedback },
  }),
  async (c) => {
    const { feedback_id: id } = c.req.valid("param");
    const row = await requireFeedback({ db: c.env.DB }, c.var.scope.workspaceId, id);
    return c.json(toFeedbackJson(row), 200);
  },
);

feedbackRoutes.openapi(
  createRoute({
    method: "patch",
    path: "/feedback/{feedback_id}",
    tags,
    summary: "Change feedback",
    request: { params, body: jsonBodyOf(feedbackUpdateSchema) },
    responses: { 200: oneFeedback },
  }),
  async (c) => {
    const { feedback_id: id } = c.req.valid("param");
    const { workspaceId } = c.var.scope;
    const row = await changeFeedback(feedbackDeps(c.env), workspaceId, id, c.req.valid("json"));
    return c.json(toFeedbackJson(row), 200);
  },
);

feedbackRoutes.openapi(
  createRoute({
    method: "delete",
    path: "/feedback/{feedback_id}",
    tags,
    summary: "Delete feedback",
    request: { params },
    responses: {
      200: {
        description: "Deleted",
        content: { "application/json": { schema: z.object({}) } },
      },
    },
  }),
  async (c) => {
    const { feedback_id: id } = c.req.valid("param");
    await removeFeedback(feedbackDeps(c.env), c.var.scope.workspaceId, id);
    return c.json({}, 200);
  },
);

function tooMuchFeedback(): Error {
  const msg =
    "There is too much feedback to look at all of it: name the runs or the project, or narrow the time range";
  return invalidField(["query"], msg, "query_too_large");
}

async function record(c: AppContext, body: FeedbackCreate) {
  const input = requireInput(body);
  const [outcome] = await recordFeedback(feedbackDeps(c.env), c.var.scope.workspaceId, [input]);
  if (outcome === undefined) throw new Error("One input has one outcome");
  if (!outcome.ok) throw refusalError(outcome);
  return toFeedbackJson(outcome.row);
}

type Source = {
  type: string;
  metadata: Record<string, unknown> | null;
  user_id: string | null;
  ls_user_id: string | null;
  user_name: string | null;
};

/** Returns feedback as the API shows it. */
function toFeedbackJson(row: FeedbackRow) {
  return {
    id: row.id,
    created_at: toIso(row.created_at),
    modified_at: toIso(row.modified_at),
    key: row.key,
    score: row.score,
    value: fromJson(row.value),
    comment: row.comment,
    correction: fromJson(row.correction),
    feedback_group_id: row.feedback_group_id,
    comparative_experiment_id: row.comparative_experiment_id,
    run_id: row.run_id,
    session_id: row.session_id,
    trace_id: row.trace_id,
    start_time: row.start_time === null ? null : toIso(row.start_time),
    is_root: row.run_id !== null && row.run_id === row.trace_id,
    feedback_source: JSON.parse(row.feedback_source) as Source,
    extra: fromJson(row.extra) as Record<string, unknown> | null,
    feedback_thread_id: null,
  };
}

/** Returns a feedback link as the API shows it; `url` is any URL on the host that the link points to. */
function toFeedbackTokenJson(row: FeedbackTokenRow, url: string) {
  return {
    id: row.id,
    url: feedbackLink(row.id, url),
    expires_at: toIso(row.expires_at),
    feedback_key: row.feedback_key,
  };
}

function fromJson(text: string | null): unknown {
  return text === null ? null : JSON.parse(text);
}
