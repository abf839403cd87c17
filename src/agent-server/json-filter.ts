import { z } from "@hono/zod-openapi";
import { filterSize, MAX_FILTER_DEPTH, MAX_FILTER_PARAMS } from "../db/json-containment.ts";

/** A JSON object to be contained in what is searched, of a size that the database can compare. */
export function jsonFilter() {
  return z.record(z.string(), z.unknown()).superRefine((filter, ctx) => {
    const { params, depth } = filterSize(filter);
    if (params > MAX_FILTER_PARAMS || depth > MAX_FILTER_DEPTH) {
      ctx.addIssue({
        code: "custom",
        message: `Filter has more than ${MAX_FILTER_PARAMS} keys and values, or more than ${MAX_FILTER_DEPTH} levels`,
        params: { type: "filter_too_large" },
      });
    }
  });
}
