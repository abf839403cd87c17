import { z } from "@hono/zod-openapi";
import { notServed } from "../../../http/not-served.ts";
import { uuidParam } from "../../../http/path-params.ts";
import { integerParam } from "../../../http/query-params.ts";
import { timeValue } from "../../../http/time-value.ts";
import { decodeCursor, encodeCursor, type RunPosition } from "../../model/run-page.ts";
import type { Micros } from "../../../lib/time.ts";
import { RUN_TYPES, type RunType } from "../../model/run-write.ts";
import { TRACED_RUN_FIELDS } from "./run-fields.ts";
import { invalidField } from "../../../lib/api-error.ts";
import { compileScopes, FilterError, type FilterScope } from "../../filter/filter.ts";
import type { RunSelection } from "../../shard/selection.ts";
import { refuseValue } from "../../../http/refuse-value.ts";

const MAX_PAGE = 1000;
const MAX_IDS = 1000;
const MAX_PROJECTS = 100;

export const RUNS_PAGE = 100;
/** Default page size of traces and of threads. */
export const TRACES_PAGE = 20;

function uuidList(max: number) {
  return z.array(uuidParam()).max(max);
}

/** A `next_cursor` of an earlier page of the same kind. */
function cursorOf<T>(decode: (text: string) => T | null) {
  return z
    .string()
    .transform(
      (text, ctx): T =>
        decode(text) ??
        refuseValue(ctx, "Input should be a cursor of an earlier page", "cursor_syntax"),
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

export const runsQuerySchemaV2 = z
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
    selects: z.array(z.enum(TRACED_RUN_FIELDS)).nullish(),
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
    selects: z.array(z.enum(TRACED_RUN_FIELDS)).nullish(),
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

export type RunsQueryBody = z.output<typeof runsQuerySchemaV2>;

export type TracesQueryBody = z.output<typeof tracesQuerySchema>;

export type ThreadsQueryBody = z.output<typeof threadsQuerySchema>;

const CURSOR = /^([\w-]+)\.(\d{1,16})\.(\d{1,16})$/;

export type TimeWindow = { from: Micros; to: Micros };

type TimeBounds = {
  min_start_time?: Micros | null | undefined;
  max_start_time?: Micros | null | undefined;
};

const DAY = 86_400_000_000;

/**
 * Returns the given bounds; the default is the last day. Later pages use the window of the first one: a
 * window that moved with the clock would lose runs at one end and find new ones at the other.
 */
export function windowOf(
  { min_start_time, max_start_time }: TimeBounds,
  ofFirstPage: TimeWindow | undefined,
  now: Micros,
): TimeWindow {
  return {
    from: min_start_time ?? ofFirstPage?.from ?? now - DAY,
    to: max_start_time ?? ofFirstPage?.to ?? now,
  };
}

/** The position where a page ended, and the time window of its query. */
type WindowCursor = { position: RunPosition; window: TimeWindow };

export function encodeWindowCursor({ position, window }: WindowCursor): string {
  return `${encodeCursor(position)}.${window.from}.${window.to}`;
}

/** Returns null if the text is not such a cursor. */
function decodeWindowCursor(text: string): WindowCursor | null {
  const [, encoded, from, to] = CURSOR.exec(text) ?? [];
  if (encoded === undefined) return null;
  const position = decodeCursor(encoded);
  return position === null ? null : { position, window: { from: Number(from), to: Number(to) } };
}

type FilterTexts = { [Scope in FilterScope]?: string | null | undefined };

type FilterSelection = Pick<RunSelection, "filter" | "traceFilter" | "treeFilter">;

const COMPLETED = 'eq(status, "success")';

/**
 * Returns the filters of a request, checked so that no shard will reject them; an empty text counts as no
 * filter. Throws a validation error that names the field and the position.
 */
export function checkedFilters(source: "body" | "query", texts: FilterTexts): FilterSelection {
  const selection: FilterSelection = {
    filter: texts.filter || undefined,
    traceFilter: texts.trace_filter || undefined,
    treeFilter: texts.tree_filter || undefined,
  };
  try {
    compileScopes(selection, "r");
  } catch (error) {
    if (!(error instanceof FilterError)) throw error;
    // Only errors about the limits on all filters together have no scope.
    const [given = "filter"] = Object.entries(texts).flatMap(([scope, text]) =>
      text ? scope : [],
    );
    throw invalidField([source, error.scope ?? given], error.message, "filter_syntax");
  }
  return selection;
}

/** Restricts a checked filter to runs that ended without an error, which excludes runs still open. */
export function completedOnly(filter: string | undefined): string {
  return filter === undefined ? COMPLETED : `and(${filter}, ${COMPLETED})`;
}
