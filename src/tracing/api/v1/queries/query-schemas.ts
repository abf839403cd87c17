import { z } from "@hono/zod-openapi";
import { notServed } from "../../../../http/not-served.ts";
import { uuidParam } from "../../../../http/path-params.ts";
import { timeValue } from "../../../../http/time-value.ts";
import { RUN_TYPES } from "../../../model/run-write.ts";
import { runSchema } from "../runs/run-schema.ts";
import { RUN_SELECT } from "../runs/run-select.ts";

/** Clients send a list, or one id as it is. */
function uuidList() {
  return z.union([uuidParam().transform((id) => [id]), z.array(uuidParam()).max(1000)]);
}

/** The members that choose runs, of `/runs/query` and `/runs/stats`. */
export const selectionMembers = {
  id: uuidList().nullish(),
  trace: uuidParam().nullish(),
  parent_run: uuidParam().nullish(),
  run_type: z.enum(RUN_TYPES).nullish(),
  session: uuidList().nullish(),
  // The Python client's name for it, where it loads the runs below another.
  session_id: uuidList().nullish(),
  reference_example: uuidList().nullish(),
  execution_order: z.literal(1).nullish(),
  start_time: timeValue().nullish(),
  end_time: timeValue().nullish(),
  error: z.boolean().nullish(),
  filter: z.string().nullish(),
  trace_filter: z.string().nullish(),
  tree_filter: z.string().nullish(),
  is_root: z.boolean().nullish(),
  // Hints about another store's tables; they change no result.
  data_source_type: z.string().nullish(),
  use_experimental_search: z.boolean().nullish(),
  skip_pagination: z.boolean().nullish(),
  skip_prev_cursor: z.boolean().nullish(),
  query: notServed("Queries in natural language are not supported: write a filter"),
  search_filter: notServed("Queries in natural language are not supported: write a filter"),
};

export const MAX_PAGE = 100;

export const runsQuerySchema = z.strictObject({
  ...selectionMembers,
  cursor: z.string().nullish(),
  // Clients pass on what their caller wants in all, and go on until there are no more pages.
  limit: z.int().min(1).nullish(),
  select: z.array(z.enum(RUN_SELECT)).nullish(),
  order: z.enum(["asc", "desc"]).nullish(),
});

export type SelectionBody = z.output<z.ZodObject<typeof selectionMembers>>;

export const runsPageSchema = z.object({
  runs: z.array(runSchema),
  cursors: z.object({ next: z.string().nullable(), prev: z.string().nullable() }),
});
