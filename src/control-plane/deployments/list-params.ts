import { z } from "@hono/zod-openapi";
import { uuidParam } from "../../http/path-params.ts";
import { integerParam } from "../../http/query-params.ts";
import { refuseValue } from "../../http/refuse-value.ts";

const MAX_PAGE = 100;
const DEFAULT_PAGE = 20;
const MAX_IDS = 100;

/** The parameters of a page. The offset in a response is that of the next page. */
export const pageParams = {
  limit: integerParam({ min: 1, max: MAX_PAGE }).default(DEFAULT_PAGE),
  offset: integerParam({ min: 0 }).default(0),
};

/** Ids separated by commas or in repeated keys. Duplicates are removed. */
export function uuidsParam() {
  const uuid = uuidParam();
  return csvParam((ctx, item): string => {
    const parsed = uuid.safeParse(item);
    if (parsed.success) return parsed.data;
    return refuseValue(ctx, "Input should be a valid UUID", "uuid_parsing");
  });
}

/** Words separated by commas or in repeated keys. Duplicates are removed. */
export function wordsParam<T extends string>(allowed: readonly T[]) {
  return csvParam((ctx, item): T => {
    const word = allowed.find((name) => name === item);
    if (word !== undefined) return word;
    const names = allowed.map((name) => `'${name}'`).join(", ");
    return refuseValue(ctx, `Input should be one of ${names}`, "enum");
  });
}

/** A filter that is refused, because there is no remote data plane. */
export function remoteReconciled() {
  const message = "There is no remote data plane here to reconcile with";
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
