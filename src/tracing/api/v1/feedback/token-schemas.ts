import { z } from "@hono/zod-openapi";
import { uuidParam } from "../../../../http/path-params.ts";
import { integerParam } from "../../../../http/query-params.ts";
import { timeValue } from "../../../../http/time-value.ts";
import { feedbackConfigSchema, feedbackKey } from "./schemas.ts";

const MAX_TOKENS_PER_REQUEST = 100;

/** A hundred years, so that every time has a date. */
const MAX_DAYS = 36_500;

const tokenCreateSchema = z
  .strictObject({
    run_id: uuidParam(),
    feedback_key: feedbackKey,
    feedback_config: feedbackConfigSchema.nullish(),
    // The Python SDK sends it: of the feedback that is to be.
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

export const tokenListQuery = z.strictObject({
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
