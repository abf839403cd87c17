import { invalidField } from "../../../lib/api-error.ts";
import { compileScopes, FilterError, type FilterScope } from "../../filter/filter.ts";
import type { RunSelection } from "../../shard/selection.ts";

type FilterTexts = { [Scope in FilterScope]?: string | null | undefined };

type FilterSelection = Pick<RunSelection, "filter" | "traceFilter" | "treeFilter">;

const COMPLETED = 'eq(status, "success")';

/**
 * The filters of a request, which no shard will refuse; an empty one is none. Throws a validation
 * error that names the field and the position.
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
    // Only limits on all of them together have no scope.
    const [given = "filter"] = Object.entries(texts).flatMap(([scope, text]) =>
      text ? scope : [],
    );
    throw invalidField([source, error.scope ?? given], error.message, "filter_syntax");
  }
  return selection;
}

/** A checked filter, and that the run has ended without an error: those still open are neither. */
export function completedOnly(filter: string | undefined): string {
  return filter === undefined ? COMPLETED : `and(${filter}, ${COMPLETED})`;
}
