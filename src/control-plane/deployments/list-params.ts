import { z } from "@hono/zod-openapi";
import { uuidParam } from "../../http/path-params.ts";
import { integerParam } from "../../http/query-params.ts";
import { refuseValue } from "../../http/refuse-value.ts";

const MAX_PAGE = 100;
const DEFAULT_PAGE = 20;
const MAX_IDS = 100;

/** The offset of the answer is the one to ask for the next page with. */
export const pageParams = {
  limit: integerParam({ min: 1, max: MAX_PAGE }).default(DEFAULT_PAGE),
  offset: integerParam({ min: 0 }).default(0),
};

/** Ids that commas separate, or in a repeated key; each of them once. */
export function uuidsParam() {
  const uuid = uuidParam();
  return csvParam((ctx, item): string => {
    const parsed = uuid.safeParse(item);
    if (parsed.success) return parsed.data;
    return refuseValue(ctx, "Input should be a valid UUID", "uuid_parsing");
  });
}

/** Words that commas separate, or in a repeated key; each of them once. */
export function wordsParam<T extends string>(allowed: readonly T[]) {
  return csvParam((ctx, item): T => {
    const word = allowed.find((name) => name === item);
    if (word !== undefined) return word;
    const names = allowed.map((name) => `'${name}'`).join(", ");
    return refuseValue(ctx, `Input should be one of ${names}`, "enum");
  });
}

/** A filter that has no meaning where nothing is remote. */
export function remoteReconciled() {
  const message = "There is no remote data plane here that anything could be reconciled with";
  return z
    .unknown()
    .refine((value) => value === undefined, { message, params: { type: "value_error" } })
    .optional()
    .openapi({ type: "boolean", description: message });
}

function csvParam<T>(parse: (ctx: z.RefinementCtx, item: string) => T) {
  return z
    .union([z.string(), z.array(z.string())])
    .transform((value, ctx): T[] => {
      const text = typeof value === "string" ? value : value.join(",");
      const items = text.split(",").map((item) => item.trim());
      if (items.length > MAX_IDS) {
        return refuseValue(ctx, `List should have at most ${MAX_IDS} items`, "too_long");
      }
      return [...new Set(items.map((item) => parse(ctx, item)))];
    })
    .openapi({ type: "string" });
}
