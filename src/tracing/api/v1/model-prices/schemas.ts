import { z } from "@hono/zod-openapi";
import { uuidParam } from "../../../../http/path-params.ts";
import { integerParam } from "../../../../http/query-params.ts";
import { timeValue } from "../../../../http/time-value.ts";
import { optionalMillis } from "../../../../lib/time.ts";
import { type Decimal, decimalOf, formatDecimal, parseDecimal } from "../../../usage/money.ts";
import { compileNamePattern, PatternError } from "../../../usage/name-pattern.ts";
import { type ModelPrice, PRICE_DECIMALS } from "../../../usage/price-list.ts";
import type { ModelPriceFields } from "../../../../db/model-prices-repo.ts";
import { DEFAULT_MATCH_PATH } from "../../../usage/run-model.ts";

const MAX_NAME_CHARS = 255;
const MAX_PATTERN_CHARS = 2000;
const MAX_PATH_KEYS = 20;
const MAX_KEY_CHARS = 100;
const MAX_DETAILS = 50;

/** Maximum price in USD per token. */
const MAX_PRICE = 1000;

const DEFAULT_PAGE = 100;
const MAX_PAGE = 1000;

const patternSchema = z
  .string()
  .min(1)
  .max(MAX_PATTERN_CHARS)
  .superRefine((pattern, ctx) => {
    try {
      compileNamePattern(pattern);
    } catch (error) {
      if (!(error instanceof PatternError)) throw error;
      const message = `Input should be a supported regular expression: ${error.message}`;
      ctx.addIssue({ code: "custom", message, params: { type: "value_error" } });
    }
  });

/** Parses USD per token from a number or a decimal text into a plain decimal text. */
function priceValue() {
  return z
    .union([z.number(), z.string()])
    .transform((value, ctx): string => {
      const price = typeof value === "number" ? decimalOf(value) : parseDecimal(value);
      const problem = problemOf(price, value);
      if (price !== null && problem === null) return formatDecimal(price);
      const message = problem ?? "Input should be a valid decimal";
      ctx.addIssue({ code: "custom", message, params: { type: "decimal_parsing" } });
      return z.NEVER;
    })
    .openapi({ type: "string", description: "USD per token: a number, or a decimal text" });
}

function problemOf(price: Decimal | null, value: number | string): string | null {
  if (price === null) return null;
  if (Number(value) < 0) return "Input should be greater than or equal to 0";
  if (Number(value) > MAX_PRICE) return `Input should be less than or equal to ${MAX_PRICE}`;
  if (price.exponent < -PRICE_DECIMALS)
    return `Input should have at most ${PRICE_DECIMALS} decimals`;
  return null;
}

const detailsSchema = z
  .record(z.string().min(1).max(MAX_KEY_CHARS), priceValue())
  .refine((details) => Object.keys(details).length <= MAX_DETAILS, {
    message: `Input should have at most ${MAX_DETAILS} items`,
    params: { type: "too_long" },
  });

export const modelPriceBodySchema = z
  .strictObject({
    name: z.string().min(1).max(MAX_NAME_CHARS),
    match_pattern: patternSchema.openapi({
      description: "Searched for in the model's name; a leading (?i) ignores case",
    }),
    match_path: z
      .array(z.string().min(1).max(MAX_KEY_CHARS))
      .min(1)
      .max(MAX_PATH_KEYS)
      .nullish()
      .openapi({
        description:
          "Invocation parameters that may hold the model's name; the first one present is used",
      }),
    provider: z.string().min(1).max(MAX_NAME_CHARS).nullish(),
    start_time: timeValue()
      .nullish()
      .openapi({ description: "Runs that started before this time do not get this price" }),
    prompt_cost: priceValue(),
    completion_cost: priceValue(),
    prompt_cost_details: detailsSchema.nullish(),
    completion_cost_details: detailsSchema.nullish(),
  })
  .openapi("ModelPriceMapCreate");

type ModelPriceBody = z.infer<typeof modelPriceBodySchema>;

const details = z.record(z.string(), z.string()).nullable();

export const modelPriceSchema = z
  .object({
    id: z.uuid(),
    tenant_id: z.uuid().nullable().openapi({ description: "Null for a built-in price" }),
    name: z.string(),
    match_pattern: z.string(),
    match_path: z.array(z.string()),
    provider: z.string().nullable(),
    start_time: z.iso.datetime().nullable(),
    prompt_token_threshold: z
      .int()
      .nullable()
      .openapi({ description: "The price applies to runs with more prompt tokens than this" }),
    prompt_cost: z.string(),
    completion_cost: z.string(),
    prompt_cost_details: details,
    completion_cost_details: details,
  })
  .openapi("ModelPriceMap");

type ModelPriceJson = z.infer<typeof modelPriceSchema>;

export const modelPriceListQuery = z.strictObject({
  offset: integerParam({ min: 0 }).default(0),
  limit: integerParam({ min: 1, max: MAX_PAGE }).default(DEFAULT_PAGE),
  q: z.string().optional().openapi({ description: "A part of the name, pattern or provider" }),
});

export const modelPriceParams = z.object({ id: uuidParam() });

/** Returns a price as the API shows it; `tenantId` is null for a built-in price. */
export function toModelPriceJson(price: ModelPrice, tenantId: string | null): ModelPriceJson {
  return {
    id: price.id,
    tenant_id: tenantId,
    name: price.name,
    match_pattern: price.matchPattern,
    match_path: [...price.matchPath],
    provider: price.provider,
    start_time: price.startTime === null ? null : new Date(price.startTime / 1000).toISOString(),
    prompt_token_threshold: price.promptTokenThreshold,
    prompt_cost: price.promptCost,
    completion_cost: price.completionCost,
    prompt_cost_details: detailsOrNull(price.promptCostDetails),
    completion_cost_details: detailsOrNull(price.completionCostDetails),
  };
}

function detailsOrNull(details: Readonly<Record<string, string>>): Record<string, string> | null {
  return Object.keys(details).length === 0 ? null : { ...details };
}

/** Converts a body to the fields of a price. Fields that the body omits get their defaults. */
export function toModelPriceFields(body: ModelPriceBody): ModelPriceFields {
  return {
    name: body.name,
    match_pattern: body.match_pattern,
    match_path: JSON.stringify(body.match_path ?? DEFAULT_MATCH_PATH),
    provider: body.provider ?? null,
    start_time: optionalMillis(body.start_time),
    prompt_cost: body.prompt_cost,
    completion_cost: body.completion_cost,
    prompt_cost_details: toText(body.prompt_cost_details),
    completion_cost_details: toText(body.completion_cost_details),
  };
}

function toText(details: Record<string, string> | null | undefined): string | null {
  return details == null ? null : JSON.stringify(details);
}
