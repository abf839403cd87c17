import { invalidField } from "../../../../lib/api-error.ts";
import { compileScopes, parseFilter } from "../../../filter/filter.ts";
import { FilterError } from "../../../filter/filter-error.ts";
import type { RunSelection } from "../../../shard/selection.ts";
import { z } from "@hono/zod-openapi";
import { notServed } from "../../../../http/not-served.ts";
import { uuidParam } from "../../../../http/path-params.ts";
import { timeValue } from "../../../../http/time-value.ts";
import { RUN_TYPES } from "../../../model/run-write.ts";
import { RUN_SELECT, runSchemaV1 } from "../runs/run-schema.ts";

function uuidList() {
  return z.union([uuidParam().transform((id) => [id]), z.array(uuidParam()).max(1000)]);
}

/** The members of `/runs/query` and `/runs/stats` bodies that select runs. */
export const selectionMembers = {
  id: uuidList().nullish(),
  trace: uuidParam().nullish(),
  parent_run: uuidParam().nullish(),
  run_type: z.enum(RUN_TYPES).nullish(),
  session: uuidList().nullish(),
  // The Python client uses this name when it loads the child runs of a run.
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
  // These are hints about the tables of another store; they do not change the result.
  data_source_type: z.string().nullish(),
  use_experimental_search: z.boolean().nullish(),
  skip_pagination: z.boolean().nullish(),
  skip_prev_cursor: z.boolean().nullish(),
  query: notServed("Queries in natural language are not supported: write a filter"),
  search_filter: notServed("Queries in natural language are not supported: write a filter"),
};

export const MAX_PAGE = 100;

export const runsQuerySchemaV1 = z.strictObject({
  ...selectionMembers,
  cursor: z.string().nullish(),
  // Clients pass the total that their caller wants, and read on until there are no more pages.
  limit: z.int().min(1).nullish(),
  select: z.array(z.enum(RUN_SELECT)).nullish(),
  order: z.enum(["asc", "desc"]).nullish(),
});

type SelectionBody = z.output<z.ZodObject<typeof selectionMembers>>;

export const runsPageSchemaV1 = z.object({
  runs: z.array(runSchemaV1),
  cursors: z.object({ next: z.string().nullable(), prev: z.string().nullable() }),
});

type ProjectSelection = {
  /** Undefined means every project of the workspace. */
  projectIds: readonly string[] | undefined;
  selection: RunSelection;
};

/** Returns what a body selects. As in the published API, `id` overrides all other members. */
export function readSelection(body: SelectionBody): ProjectSelection {
  const { id } = body;
  if (id && id.length > 0) return { projectIds: undefined, selection: { ids: id } };
  const isRoot = body.is_root ?? (body.execution_order === 1 ? true : undefined);
  const selection: RunSelection = {
    traceId: body.trace ?? undefined,
    parentRunId: body.parent_run ?? undefined,
    runType: body.run_type ?? undefined,
    referenceExampleIds: body.reference_example ?? undefined,
    from: body.start_time ?? undefined,
    to: body.end_time ?? undefined,
    hasError: body.error ?? undefined,
    isRoot,
    filter: checkedFilter(["body", "filter"], body.filter),
    traceFilter: checkedFilter(["body", "trace_filter"], body.trace_filter),
    treeFilter: checkedFilter(["body", "tree_filter"], body.tree_filter),
  };
  // Together the filters may exceed a limit although none of them does.
  checked(["body", "filter"], () => compileScopes(selection, "r"));
  return {
    projectIds: namedProjects(body),
    selection,
  };
}

/** Returns the ids that both lists contain, if both are given. An empty list does not restrict. */
function namedProjects({ session, session_id }: SelectionBody): readonly string[] | undefined {
  const lists = [session, session_id].filter((list) => list && list.length > 0);
  const [first, second] = lists;
  return second ? first?.filter((id) => second.includes(id)) : (first ?? undefined);
}

/** Returns the filter, or undefined if it is empty. Throws a 422 with `loc`, the position and what was expected. */
export function checkedFilter(
  loc: (string | number)[],
  text: string | null | undefined,
): string | undefined {
  if (!text) return undefined;
  checked(loc, () => parseFilter(text));
  return text;
}

function checked(loc: (string | number)[], check: () => unknown): void {
  try {
    check();
  } catch (error) {
    if (!(error instanceof FilterError)) throw error;
    throw invalidField(loc, error.message, "filter_syntax");
  }
}

/** Clients send a list of ids, or a single id. */
