import { toIso } from "../../../../lib/time.ts";
import { createRoute, z } from "@hono/zod-openapi";
import {
  deleteFeedbackConfig,
  type FeedbackConfigRow,
  insertFeedbackConfig,
  listFeedbackConfigs,
  selectFeedbackConfigs,
  updateFeedbackConfig,
} from "../../../../db/feedback-configs-repo.ts";
import type { AppContext } from "../../../../http/app-types.ts";
import { ApiError, invalidField } from "../../../../lib/api-error.ts";
import { integerParam } from "../../../../http/query-params.ts";
import { createRouter } from "../../../../http/router.ts";
import { textListParam } from "../params.ts";
import { configText, readConfig } from "../../../feedback/feedback-input.ts";
import { feedbackConfigSchema, feedbackKey } from "./schemas.ts";

const DEFAULT_LIMIT = 100;

/** Routes of the feedback configs, which say what the scores and values of a feedback key mean. */
export const feedbackConfigRoutes = createRouter();

const tags = ["Feedback"];

const keyConfigSchema = z
  .object({
    feedback_key: z.string(),
    feedback_config: feedbackConfigSchema,
    tenant_id: z.uuid(),
    modified_at: z.iso.datetime(),
    is_lower_score_better: z.boolean().nullable(),
  })
  .openapi("FeedbackKeyConfig");

const createSchema = z
  .strictObject({
    feedback_key: feedbackKey,
    feedback_config: feedbackConfigSchema,
    is_lower_score_better: z.boolean().nullish(),
  })
  .openapi("FeedbackKeyConfigCreate");

const updateSchema = z
  .strictObject({
    feedback_key: feedbackKey,
    feedback_config: feedbackConfigSchema.nullish(),
    is_lower_score_better: z.boolean().nullish(),
  })
  .openapi("FeedbackKeyConfigUpdate");

const oneConfig = {
  description: "The config",
  content: { "application/json": { schema: keyConfigSchema } },
};

feedbackConfigRoutes.openapi(
  createRoute({
    method: "get",
    path: "/feedback-configs",
    tags,
    summary: "List the configs of feedback keys",
    request: {
      query: z.strictObject({
        key: textListParam().optional(),
        name_contains: z.string().optional(),
        limit: integerParam({ min: 1, max: 100 }).optional(),
        offset: integerParam({ min: 0 }).optional(),
      }),
    },
    responses: {
      200: {
        description: "The configs of the page",
        content: { "application/json": { schema: z.array(keyConfigSchema) } },
      },
    },
  }),
  async (c) => {
    const { key, name_contains, limit = DEFAULT_LIMIT, offset = 0 } = c.req.valid("query");
    const rows = await listFeedbackConfigs(
      c.env.DB,
      c.var.scope.workspaceId,
      { keys: key, nameContains: name_contains },
      { limit, offset },
    );
    if (rows === null) {
      const msg = 'There are too many configs to look at all of them: name their keys with "key"';
      throw invalidField(["query", "name_contains"], msg, "query_too_large");
    }
    return c.json(rows.map(toKeyConfig), 200);
  },
);

feedbackConfigRoutes.openapi(
  createRoute({
    method: "post",
    path: "/feedback-configs",
    tags,
    summary: "Create the config of a feedback key; an equal existing config is accepted",
    request: {
      body: { required: true, content: { "application/json": { schema: createSchema } } },
    },
    responses: { 200: oneConfig },
  }),
  async (c) => c.json(toKeyConfig(await createConfig(c, c.req.valid("json"))), 200),
);

feedbackConfigRoutes.openapi(
  createRoute({
    method: "patch",
    path: "/feedback-configs",
    tags,
    summary: "Change the config of a feedback key",
    request: {
      body: { required: true, content: { "application/json": { schema: updateSchema } } },
    },
    responses: { 200: oneConfig },
  }),
  async (c) => {
    const {
      feedback_key: key,
      feedback_config: config,
      is_lower_score_better,
    } = c.req.valid("json");
    const change = {
      feedback_config: config ? configText(config) : undefined,
      is_lower_score_better: is_lower_score_better ?? undefined,
    };
    const { workspaceId } = c.var.scope;
    const row = await updateFeedbackConfig(c.env.DB, workspaceId, key, change, Date.now());
    if (row === undefined) throw configNotFound(key);
    return c.json(toKeyConfig(row), 200);
  },
);

feedbackConfigRoutes.openapi(
  createRoute({
    method: "delete",
    path: "/feedback-configs",
    tags,
    summary: "Delete the config of a feedback key; the feedback stays",
    request: { query: z.strictObject({ feedback_key: feedbackKey }) },
    responses: { 204: { description: "Deleted" } },
  }),
  async (c) => {
    const { feedback_key: key } = c.req.valid("query");
    const { workspaceId } = c.var.scope;
    if (!(await deleteFeedbackConfig(c.env.DB, workspaceId, key))) throw configNotFound(key);
    return c.body(null, 204);
  },
);

async function createConfig(
  c: AppContext,
  body: z.infer<typeof createSchema>,
): Promise<FeedbackConfigRow> {
  const { workspaceId } = c.var.scope;
  const { feedback_key: key, is_lower_score_better: isLowerBetter } = body;
  const now = Date.now();
  const row: FeedbackConfigRow = {
    workspace_id: workspaceId,
    feedback_key: key,
    feedback_config: configText(body.feedback_config),
    is_lower_score_better: isLowerBetter ?? null,
    created_at: now,
    modified_at: now,
  };
  const inserted = await insertFeedbackConfig(c.env.DB, row);
  if (inserted !== undefined) return inserted;
  const [existing] = await selectFeedbackConfigs(c.env.DB, workspaceId, [key]);
  // Clients send false when their caller specified nothing, so false does not contradict a stored true.
  const agrees = isLowerBetter !== true || existing?.is_lower_score_better === true;
  if (existing?.feedback_config === row.feedback_config && agrees) return existing;
  throw new ApiError(
    "bad_request",
    `Feedback key ${JSON.stringify(key)} already has a different config`,
  );
}

function toKeyConfig(row: FeedbackConfigRow) {
  return {
    feedback_key: row.feedback_key,
    feedback_config: readConfig(row.feedback_config),
    tenant_id: row.workspace_id,
    modified_at: toIso(row.modified_at),
    is_lower_score_better: row.is_lower_score_better,
  };
}

function configNotFound(key: string): ApiError {
  return new ApiError("not_found", `Feedback key ${JSON.stringify(key)} has no config`);
}
