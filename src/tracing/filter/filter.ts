import { allOf, type Sql, sql } from "../../db/sql.ts";
import { FilterError, type FilterScope } from "./filter-error.ts";
import type { Filter } from "./filter-tree.ts";
import { parseTree } from "./parse.ts";
import { attributesOf, readsLeaves, runCondition } from "./run-condition.ts";

export { FilterError, type FilterScope } from "./filter-error.ts";
export type { Filter } from "./filter-tree.ts";

/** SQLite inside a Durable Object takes 100 in a statement; the rest is for other conditions. */
const MAX_PARAMETERS = 80;
/** Of 100,000 in a statement. */
const MAX_SQL_CHARS = 80_000;

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
 * The syntax tree of a filter text, names and types checked. Throws a FilterError, also for a text
 * that alone exceeds the limits of compileFilter.
 */
export function parseFilter(text: string): Filter {
  const filter = parseTree(text);
  compileFilter(filter, "r");
  return filter;
}

/**
 * The filter as a condition on the row `alias` of a shard's `runs`: true for the runs that match,
 * false or null for others. Throws a FilterError when it has more conditions or values than one
 * statement of SQLite can take.
 */
export function compileFilter(filter: Filter, alias: string): Sql {
  const compiled = runCondition(filter, alias);
  checkLimits([compiled]);
  return compiled;
}

/**
 * All of the scopes as one condition on the row `alias` of a shard's `runs`; "1" for none. Throws a
 * FilterError, whose `scope` names the text that is at fault, unless all of them together are.
 * Whether it throws does not depend on `known`.
 */
export function compileScopes(
  { filter, traceFilter, treeFilter }: ScopeTexts,
  alias: string,
  known: KnownTraces = { trace: [], tree: [] },
): Sql {
  const own = optional(filter, (text) =>
    inScope("filter", () => runCondition(parseTree(text), alias)),
  );
  const traces = optional(traceFilter, (text) => tracesSql("trace", text));
  const trees = optional(treeFilter, (text) => tracesSql("tree", text));
  checkLimits([...own, ...traces, ...trees]);
  return allOf([
    ...own,
    ...traces.map((query) => amongSql(alias, query, known.trace)),
    ...trees.map((query) => amongSql(alias, query, known.tree)),
  ]);
}

/**
 * Queries for ids of attributes: a run that matches the filter has at least one of each. For a store
 * that would rather begin with the few runs of a rare attribute. Throws a FilterError.
 */
export function attributeQueries(filter: string): Sql[] {
  return attributesOf(parseTree(filter));
}

/** Whether inputs or outputs have to be read to tell if a run matches. Throws a FilterError. */
export function readsTexts(filter: string): boolean {
  return readsLeaves(parseTree(filter));
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
  const traces = tracesSql(scope, filter);
  checkLimits([traces]);
  return sql(
    `${traces.text} AND scoped.trace_id IN (SELECT value FROM json_each(?)) GROUP BY scoped.trace_id`,
    ...traces.params,
    JSON.stringify(traceIds),
  );
}

/** Ends inside of its WHERE. */
function tracesSql(scope: keyof KnownTraces, text: string): Sql {
  const matches = inScope(`${scope}_filter`, () => runCondition(parseTree(text), "scoped"));
  const root = scope === "trace" ? "scoped.parent_run_id IS NULL AND " : "";
  return {
    text: `SELECT scoped.trace_id FROM runs AS scoped WHERE ${root}${matches.text}`,
    params: matches.params,
  };
}

function amongSql(alias: string, traces: Sql, known: readonly string[]): Sql {
  const elsewhere =
    known.length === 0
      ? sql("")
      : sql(" UNION ALL SELECT value FROM json_each(?)", JSON.stringify(known));
  return {
    text: `${alias}.trace_id IN (${traces.text}${elsewhere.text})`,
    params: [...traces.params, ...elsewhere.params],
  };
}

function optional(text: string | undefined, compile: (text: string) => Sql): Sql[] {
  return text === undefined ? [] : [compile(text)];
}

function inScope(scope: FilterScope, compile: () => Sql): Sql {
  try {
    return compile();
  } catch (error) {
    if (error instanceof FilterError) error.scope = scope;
    throw error;
  }
}

function checkLimits(compiled: readonly Sql[]): void {
  const parameters = compiled.reduce((sum, { params }) => sum + params.length, 0);
  if (parameters > MAX_PARAMETERS) {
    const problem =
      `there are ${parameters} values to compare with; at most ${MAX_PARAMETERS} are allowed ` +
      "in all filters of a request (the list of an in counts as one)";
    throw new FilterError(0, problem, `at most ${MAX_PARAMETERS} values`);
  }
  const characters = compiled.reduce((sum, { text }) => sum + text.length, 0);
  if (characters > MAX_SQL_CHARS) {
    throw new FilterError(0, "there are too many conditions", "fewer conditions");
  }
}
