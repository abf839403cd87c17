import { z } from "@hono/zod-openapi";
import { filterSize, MAX_FILTER_DEPTH, MAX_FILTER_SIZE } from "../db/json-filter-sql.ts";

/** Schema of a JSON object that results must contain, limited to a size that the database can compare. */
export function jsonFilter() {
  return z.record(z.string(), z.unknown()).superRefine((filter, ctx) => {
    const { size, depth } = filterSize(filter);
    if (size > MAX_FILTER_SIZE || depth > MAX_FILTER_DEPTH) {
      ctx.addIssue({
        code: "custom",
        message: `Filter has more than ${MAX_FILTER_SIZE} keys and values, or more than ${MAX_FILTER_DEPTH} levels`,
        params: { type: "filter_too_large" },
      });
    }
  });
}
