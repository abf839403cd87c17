import { allOf, type Sql, sql } from "../../db/sql.ts";
import { FilterError, type FilterScope } from "./filter-error.ts";
import type { Filter } from "./filter-tree.ts";
import { parseFilter } from "./parse.ts";
import { runCondition } from "./run-condition.ts";

export { FilterError, type FilterScope } from "./filter-error.ts";
export type { Filter } from "./filter-tree.ts";
export { parseFilter } from "./parse.ts";

/** SQLite inside a Durable Object takes 100 in a statement; the rest is for other conditions. */
export const MAX_PARAMETERS = 80;
/** Of 100,000 in a statement. */
const MAX_SQL_CHARS = 60_000;

/** Texts of the filter language; undefined where there is none. */
export type ScopeTexts = {
  /** Of each run. */
  filter?: string | undefined;
  /** Of the root run of the run's trace. */
  traceFilter?: string | undefined;
  /** Of any run of the run's trace. */
  treeFilter?: string | undefined;
};

/** Traces known to fulfil `traceFilter` or `treeFilter` by a run that is stored elsewhere. */
export type KnownTraces = { trace: readonly string[]; tree: readonly string[] };

/**
 * The filter as a condition on the row `alias` of a shard's `runs`: true for the runs that match,
 * false or null for others. Throws a FilterError when it would need too many bound parameters.
 */
export function compileFilter(filter: Filter, alias: string): Sql {
  return limited(runCondition(filter, alias));
}

/**
 * All of the scopes as one condition on the row `alias` of a shard's `runs`; "1" for none. Throws a
 * FilterError, whose `scope` names the text that is at fault, when it is one of them.
 */
export function compileScopes(
  { filter, traceFilter, treeFilter }: ScopeTexts,
  alias: string,
  known: KnownTraces = { trace: [], tree: [] },
): Sql {
  const conditions: Sql[] = [];
  if (filter !== undefined) {
    conditions.push(inScope("filter", () => runCondition(parseFilter(filter), alias)));
  }
  if (traceFilter !== undefined) {
    const { text, params } = inScope("trace_filter", () => tracesSql("trace", traceFilter));
    conditions.push(among(alias, { text, params }, known.trace));
  }
  if (treeFilter !== undefined) {
    const traces = inScope("tree_filter", () => tracesSql("tree", treeFilter));
    conditions.push(among(alias, traces, known.tree));
  }
  return limited(allOf(conditions));
}

/**
 * A query for `trace_id` of those of the given traces that fulfil the filter by a run of this shard:
 * by their root run ("trace") or by any run ("tree"). Throws a FilterError.
 */
export function matchingTracesSql(
  scope: keyof KnownTraces,
  filter: string,
  traceIds: readonly string[],
): Sql {
  const traces = inScope(`${scope}_filter`, () => limited(tracesSql(scope, filter)));
  return sql(
    `${traces.text} AND scoped.trace_id IN (SELECT value FROM json_each(?)) GROUP BY scoped.trace_id`,
    ...traces.params,
    JSON.stringify(traceIds),
  );
}

/** Ends inside of its WHERE. */
function tracesSql(scope: keyof KnownTraces, text: string): Sql {
  const matches = runCondition(parseFilter(text), "scoped");
  const root = scope === "trace" ? "scoped.parent_run_id IS NULL AND " : "";
  return {
    text: `SELECT scoped.trace_id FROM runs AS scoped WHERE ${root}${matches.text}`,
    params: matches.params,
  };
}

function among(alias: string, traces: Sql, known: readonly string[]): Sql {
  const elsewhere =
    known.length === 0
      ? sql("")
      : sql(" UNION ALL SELECT value FROM json_each(?)", JSON.stringify(known));
  return {
    text: `${alias}.trace_id IN (${traces.text}${elsewhere.text})`,
    params: [...traces.params, ...elsewhere.params],
  };
}

function inScope(scope: FilterScope, compile: () => Sql): Sql {
  try {
    return compile();
  } catch (error) {
    if (error instanceof FilterError) error.scope = scope;
    throw error;
  }
}

function limited(compiled: Sql): Sql {
  const { text, params } = compiled;
  if (params.length > MAX_PARAMETERS) {
    const problem =
      `the filter compares with ${params.length} values; at most ${MAX_PARAMETERS} are allowed ` +
      "(a list of in counts as one)";
    throw new FilterError(0, problem, `at most ${MAX_PARAMETERS} values`);
  }
  if (text.length > MAX_SQL_CHARS) {
    throw new FilterError(0, "the filter has too many conditions", "fewer conditions");
  }
  return compiled;
}
