import { z } from "@hono/zod-openapi";
import { uuidParam } from "../../../../http/path-params.ts";
import { booleanParam, integerParam } from "../../../../http/query-params.ts";
import { textListParam, uuidListParam } from "../params.ts";
import { timeValue } from "../../../../http/time-value.ts";
import { FEEDBACK_SOURCES } from "../../../feedback/feedback-input.ts";

/** Keeps feedback below the 2 MB of a database row: a character may take three bytes. */
const MAX_FEEDBACK_CHARS = 524_288;

const MAX_KEY_CHARS = 180;

export const feedbackConfigSchema = z
  .strictObject({
    type: z.enum(["continuous", "categorical", "freeform"]),
    min: z.number().nullish(),
    max: z.number().nullish(),
    categories: z
      .array(z.strictObject({ value: z.number(), label: z.string().min(1).nullish() }))
      .nullish(),
  })
  .openapi("FeedbackConfig");

const jsonObject = z.record(z.string(), z.unknown());

export const feedbackKey = z.string().min(1).max(MAX_KEY_CHARS);

const score = z.union([z.number(), z.boolean()]).nullish();

/** Rejects lists, because clients cannot read one back. */
const value = z
  .unknown()
  .refine((given) => !Array.isArray(given), {
    message: "Input should be a number, a boolean, a string or an object",
    params: { type: "value_type" },
  })
  .optional();

const judgementFields = {
  score,
  value,
  comment: z.string().nullish(),
  correction: z.union([z.string(), jsonObject]).nullish(),
};

const sourceSchema = z
  .strictObject({
    type: z.enum(FEEDBACK_SOURCES).optional(),
    metadata: jsonObject.nullish(),
    user_id: uuidParam().nullish(),
    ls_user_id: uuidParam().nullish(),
    user_name: z.string().nullish(),
  })
  .openapi("FeedbackSourceInput");

export const feedbackCreateSchema = z
  .strictObject({
    ...judgementFields,
    id: uuidParam().nullish(),
    key: feedbackKey,
    run_id: uuidParam().nullish(),
    trace_id: uuidParam().nullish(),
    session_id: uuidParam().nullish(),
    start_time: timeValue().nullish(),
    created_at: timeValue().nullish(),
    modified_at: timeValue().nullish(),
    feedback_source: sourceSchema.nullish(),
    feedback_config: feedbackConfigSchema.nullish(),
    // The JavaScript SDK uses this name.
    feedbackConfig: feedbackConfigSchema.nullish(),
    feedback_group_id: uuidParam().nullish(),
    comparative_experiment_id: uuidParam().nullish(),
    error: z.boolean().nullish(),
    extra: jsonObject.nullish(),
    extend_trace_retention: z.boolean().nullish(),
    // The Python SDK sends this in multipart bodies; it is the opposite of `extend_trace_retention`.
    _skip_trace_upgrade: z.boolean().nullish(),
  })
  .superRefine(refuseLarge)
  .openapi("FeedbackCreate");

export type FeedbackCreate = z.infer<typeof feedbackCreateSchema>;

export const feedbackUpdateSchema = z
  .strictObject({ ...judgementFields, feedback_config: feedbackConfigSchema.nullish() })
  .superRefine(refuseLarge)
  .openapi("FeedbackUpdate");

export const tokenFeedbackSchema = z
  .strictObject({ ...judgementFields, metadata: jsonObject.nullish() })
  .superRefine(refuseLarge)
  .openapi("FeedbackByToken");

export const tokenFeedbackQuery = z.strictObject({
  score: scoreParam().optional(),
  value: z.string().optional(),
  comment: z.string().optional(),
  correction: z.string().optional(),
});

export const feedbackListQuery = z.strictObject({
  run: uuidListParam().optional(),
  session: uuidListParam().optional(),
  key: textListParam().optional(),
  source: z
    .union([z.enum(FEEDBACK_SOURCES).transform((one) => [one]), z.array(z.enum(FEEDBACK_SOURCES))])
    .optional(),
  user: uuidListParam().optional(),
  has_comment: booleanParam().optional(),
  has_score: booleanParam().optional(),
  level: z.enum(["run", "session"]).optional(),
  min_created_at: timeValue().optional(),
  max_created_at: timeValue().optional(),
  comparative_experiment_id: uuidParam().optional(),
  // This parameter has no effect: a name that was given with the source is always shown.
  include_user_names: booleanParam().optional(),
  limit: integerParam({ min: 1, max: 100 }).optional(),
  offset: integerParam({ min: 0 }).optional(),
});

export const feedbackReadQuery = z.strictObject({ include_user_names: booleanParam().optional() });

export const feedbackSchema = z
  .object({
    id: z.uuid(),
    created_at: z.iso.datetime(),
    modified_at: z.iso.datetime(),
    key: z.string(),
    score: z.number().nullable(),
    value: z.unknown(),
    comment: z.string().nullable(),
    correction: z.unknown(),
    feedback_group_id: z.uuid().nullable(),
    comparative_experiment_id: z.uuid().nullable(),
    run_id: z.uuid().nullable(),
    session_id: z.uuid().nullable(),
    trace_id: z.uuid().nullable(),
    start_time: z.iso.datetime().nullable(),
    is_root: z.boolean(),
    feedback_source: z.object({
      type: z.string(),
      metadata: jsonObject.nullable(),
      user_id: z.uuid().nullable(),
      ls_user_id: z.uuid().nullable(),
      user_name: z.string().nullable(),
    }),
    extra: jsonObject.nullable(),
    feedback_thread_id: z.string().nullable(),
  })
  .openapi("Feedback");

function refuseLarge(body: unknown, ctx: z.RefinementCtx): void {
  if (JSON.stringify(body).length <= MAX_FEEDBACK_CHARS) return;
  const message = `Feedback should have at most ${MAX_FEEDBACK_CHARS} characters of JSON`;
  ctx.addIssue({ code: "custom", message, params: { type: "too_long" } });
}

function scoreParam() {
  return z
    .string()
    .transform((text, ctx): number | boolean => {
      if (text === "true" || text === "false") return text === "true";
      const number = Number(text);
      if (text.trim() !== "" && Number.isFinite(number)) return number;
      const params = { type: "float_parsing" };
      ctx.addIssue({ code: "custom", message: "Input should be a valid number", params });
      return z.NEVER;
    })
    .openapi({ type: "number" });
}

const MAX_TOKENS_PER_REQUEST = 100;

/** A hundred years, so that every expiry is a representable date. */
const MAX_DAYS = 36_500;

const tokenCreateSchema = z
  .strictObject({
    run_id: uuidParam(),
    feedback_key: feedbackKey,
    feedback_config: feedbackConfigSchema.nullish(),
    // The Python SDK sends the id of the feedback that the token will create.
    id: uuidParam().nullish(),
    expires_in: z
      .strictObject({
        days: z.int().min(0).max(MAX_DAYS).optional(),
        hours: z
          .int()
          .min(0)
          .max(MAX_DAYS * 24)
          .optional(),
        minutes: z
          .int()
          .min(0)
          .max(MAX_DAYS * 24 * 60)
          .optional(),
      })
      .nullish(),
    expires_at: timeValue().nullish(),
  })
  .refine(({ expires_in, expires_at }) => expires_in == null || expires_at == null, {
    message: "Give expires_in or expires_at, not both",
    path: ["expires_at"],
  })
  .openapi("FeedbackTokenCreate");

export const tokensCreateSchema = z.union([
  tokenCreateSchema,
  z.array(tokenCreateSchema).max(MAX_TOKENS_PER_REQUEST),
]);

export const feedbackTokenListQuery = z.strictObject({
  run_id: uuidParam(),
  limit: integerParam({ min: 1, max: 100 }).optional(),
  offset: integerParam({ min: 0 }).optional(),
});

export const tokenSchema = z
  .object({
    id: z.uuid(),
    url: z.url(),
    expires_at: z.iso.datetime(),
    feedback_key: z.string(),
  })
  .openapi("FeedbackToken");
