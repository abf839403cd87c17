import { toIso } from "../../../../lib/time.ts";
import { createRoute, z } from "@hono/zod-openapi";
import { type FeedbackTokenRow, selectFeedbackToken } from "../../../../db/feedback-tokens-repo.ts";
import type { AppContext } from "../../../../http/app-types.ts";
import { ApiError, invalidField } from "../../../../lib/api-error.ts";
import { uuidParam } from "../../../../http/path-params.ts";
import { createRouter } from "../../../../http/router.ts";
import { admitWorkspace } from "../../../../identity/private-connectivity.ts";
import { judgementProblem, readConfig } from "../../../feedback/feedback-input.ts";
import { feedbackDeps } from "../../../feedback/feedback-shards.ts";
import { recordFeedback } from "../../../feedback/record-feedback.ts";
import { refusalError, requireInput } from "./feedback-body.ts";
import { type FeedbackCreate, tokenFeedbackQuery, tokenFeedbackSchema } from "./schemas.ts";

/** Routes for anyone who has the link; they must be mounted without authentication. */
export const feedbackTokenRoutes = createRouter();

const params = z.object({ token: uuidParam() });

const tags = ["Feedback"];

const security: [] = [];

const recorded = {
  description: "Recorded; it replaces feedback that was given earlier with this link",
  content: { "application/json": { schema: z.object({}) } },
};

type Given = Pick<FeedbackCreate, "score" | "value" | "comment" | "correction"> & {
  metadata?: Record<string, unknown> | null | undefined;
};

feedbackTokenRoutes.openapi(
  createRoute({
    method: "get",
    path: "/feedback/tokens/{token}",
    tags,
    security,
    summary: "Give feedback with a link",
    request: { params, query: tokenFeedbackQuery },
    responses: { 200: recorded },
  }),
  async (c) => {
    await recordByToken(c, c.req.valid("param").token, c.req.valid("query"), "query");
    return c.json({}, 200);
  },
);

feedbackTokenRoutes.openapi(
  createRoute({
    method: "post",
    path: "/feedback/tokens/{token}",
    tags,
    security,
    summary: "Give feedback with a link",
    request: {
      params,
      body: { required: true, content: { "application/json": { schema: tokenFeedbackSchema } } },
    },
    responses: { 200: recorded },
  }),
  async (c) => {
    await recordByToken(c, c.req.valid("param").token, c.req.valid("json"), "body");
    return c.json({}, 200);
  },
);

async function recordByToken(
  c: AppContext,
  id: string,
  given: Given,
  source: "body" | "query",
): Promise<void> {
  const token = await requireToken(c, id);
  const { metadata, ...judgement } = given;
  const input = requireInput({
    ...judgement,
    id: token.feedback_id,
    run_id: token.run_id,
    key: token.feedback_key,
    feedback_source: { type: "api", metadata },
  });
  const config = token.feedback_config === null ? null : readConfig(token.feedback_config);
  if (config !== null) {
    const problem = judgementProblem(config, { score: input.score, value: given.value });
    if (problem !== null)
      throw invalidField([source, problem.field], problem.message, "value_error");
  }
  const [outcome] = await recordFeedback(feedbackDeps(c.env), token.workspace_id, [
    { ...input, config },
  ]);
  if (outcome?.ok === false) throw refusalError(outcome, source);
}

async function requireToken(c: AppContext, id: string): Promise<FeedbackTokenRow> {
  const token = await selectFeedbackToken(c.env.DB, id);
  if (token === undefined) throw new ApiError("not_found", "Feedback token not found");
  await admitWorkspace(c, token.workspace_id);
  if (token.expires_at <= Date.now()) {
    const expiry = toIso(token.expires_at);
    throw new ApiError("forbidden", `This feedback token expired at ${expiry}`);
  }
  return token;
}
