import { z } from "@hono/zod-openapi";
import { notServed } from "../../../http/not-served.ts";
import { uuidParam } from "../../../http/path-params.ts";
import { integerParam } from "../../../http/query-params.ts";
import { timeValue } from "../../../http/time-value.ts";
import { decodeCursor, type RunPosition } from "../../model/run-page.ts";
import { RUN_TYPES, type RunType } from "../../model/run-write.ts";
import { RUN_FIELDS } from "./run-fields.ts";
import { decodeWindowCursor, type WindowCursor } from "./window.ts";

const MAX_PAGE = 1000;
const MAX_IDS = 1000;
const MAX_PROJECTS = 100;

export const RUNS_PAGE = 100;
/** How many traces, or threads, a page has by default. */
export const TRACES_PAGE = 20;

function uuidList(max: number) {
  return z.array(uuidParam()).max(max);
}

function refuse(ctx: z.RefinementCtx, message: string, type: string): never {
  ctx.addIssue({ code: "custom", message, params: { type } });
  return z.NEVER;
}

/** The text of `next_cursor`, as a page of this kind has it. */
function cursorOf<T>(decode: (text: string) => T | null) {
  return z
    .string()
    .transform(
      (text, ctx): T =>
        decode(text) ?? refuse(ctx, "Input should be a cursor of an earlier page", "cursor_syntax"),
    )
    .openapi({ type: "string" });
}

const windowCursor = (): z.ZodType<WindowCursor, string> => cursorOf(decodeWindowCursor);

export const positionCursor = (): z.ZodType<RunPosition, string> => cursorOf(decodeCursor);

const runType = z
  .enum(["TOOL", "CHAIN", "LLM", "RETRIEVER", "EMBEDDING", "PROMPT", "PARSER"])
  .transform((name): RunType => {
    const lower = name.toLowerCase();
    return RUN_TYPES.find((type) => type === lower) ?? "chain";
  });

const timeBounds = {
  min_start_time: timeValue().nullish(),
  max_start_time: timeValue().nullish(),
};

const page = {
  cursor: windowCursor().nullish(),
  page_size: z.int().min(1).max(MAX_PAGE).nullish(),
};

export const pageSizeParam = () => integerParam({ min: 1, max: MAX_PAGE });

export const runsQuerySchema = z
  .strictObject({
    project_ids: uuidList(MAX_PROJECTS).min(1).nullish(),
    reference_dataset_id: uuidParam().nullish(),
    ids: uuidList(MAX_IDS).nullish(),
    trace_id: uuidParam().nullish(),
    run_type: runType.nullish(),
    is_root: z.boolean().nullish(),
    has_error: z.boolean().nullish(),
    ...timeBounds,
    filter: z.string().nullish(),
    trace_filter: z.string().nullish(),
    tree_filter: z.string().nullish(),
    reference_examples: uuidList(MAX_IDS).nullish(),
    ai_query: notServed("Queries in natural language are not supported: write a filter"),
    ...page,
    selects: z.array(z.enum(RUN_FIELDS)).nullish(),
    sort_order: z.enum(["ASC", "DESC"]).nullish(),
  })
  .openapi("RunsQuery");

export const tracesQuerySchema = z
  .strictObject({
    project_id: uuidParam(),
    trace_ids: uuidList(MAX_IDS).nullish(),
    ...timeBounds,
    trace_filter: z.string().nullish(),
    tree_filter: z.string().nullish(),
    ...page,
    selects: z.array(z.enum(RUN_FIELDS)).nullish(),
  })
  .openapi("TracesQuery");

export const threadsQuerySchema = z
  .strictObject({
    project_id: uuidParam(),
    ...timeBounds,
    filter: z.string().nullish(),
    trace_filter: z.string().nullish(),
    tree_filter: z.string().nullish(),
    thread_filter: notServed("Filters on summaries of threads are not supported"),
    ...page,
  })
  .openapi("ThreadsQuery");

export type RunsQueryBody = z.output<typeof runsQuerySchema>;

export type TracesQueryBody = z.output<typeof tracesQuerySchema>;

export type ThreadsQueryBody = z.output<typeof threadsQuerySchema>;
