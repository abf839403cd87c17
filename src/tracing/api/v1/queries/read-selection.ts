import { invalidField } from "../../../../lib/api-error.ts";
import { compileScopes, parseFilter } from "../../../filter/filter.ts";
import { FilterError } from "../../../filter/filter-error.ts";
import type { SelectionBody } from "./query-schemas.ts";
import type { RunSelection } from "../../../shard/selection.ts";

export type ProjectSelection = {
  /** Undefined: every project of the workspace. */
  projectIds: readonly string[] | undefined;
  selection: RunSelection;
};

/** What a body selects. With `id`, nothing else counts, as the API has it. */
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
  // Together they may be too much although each of them is not.
  checked(["body", "filter"], () => compileScopes(selection, "r"));
  return {
    projectIds: namedProjects(body),
    selection,
  };
}

/** What both lists have, when there are two; an empty list names nothing, and does not restrict. */
function namedProjects({ session, session_id }: SelectionBody): readonly string[] | undefined {
  const lists = [session, session_id].filter((list) => list && list.length > 0);
  const [first, second] = lists;
  return second ? first?.filter((id) => second.includes(id)) : (first ?? undefined);
}

/** The filter, unless it is empty; a 422 that names `loc`, the position and what was expected. */
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
