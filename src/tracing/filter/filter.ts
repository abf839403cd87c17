import { allOf, type Sql, sql } from "../../db/sql.ts";
import { FilterError, type FilterScope } from "./filter-error.ts";
import { startsBetween, startsWithin } from "./run-key.ts";
import type { Filter } from "./filter-tree.ts";
import { parseTree } from "./parse.ts";
import { runCondition } from "./run-condition.ts";

export { FilterError, type FilterScope } from "./filter-error.ts";
export type { Filter } from "./filter-tree.ts";

/** SQLite inside a Durable Object allows 100 parameters in a statement; other conditions need the rest. */
const MAX_PARAMETERS = 80;
/** A statement may have 100,000 characters; other conditions need the rest. */
const MAX_SQL_CHARS = 80_000;

/** Texts of the filter language; undefined if not given. */
export type ScopeTexts = {
  /** The filter that each run must match. */
  filter?: string | undefined;
  /** The filter that the root run of the run's trace must match. */
  traceFilter?: string | undefined;
  /** The filter that at least one run of the run's trace must match. */
  treeFilter?: string | undefined;
};

/** Inclusive bounds of the start times of runs, in microseconds; null for no bound. */
export type TimeSpan = { from: number | null; to: number | null };

/** Ids of traces known to match `traceFilter` or `treeFilter` because of a run that is stored elsewhere. */
export type KnownTraces = { trace: readonly string[]; tree: readonly string[] };

/**
 * Parses a filter text to its syntax tree and checks names and types. Throws a FilterError, also for a
 * text that alone exceeds the limits of compileFilter.
 */
export function parseFilter(text: string): Filter {
  const filter = parseTree(text);
  compileFilter(filter, "r");
  return filter;
}

/** Describes what is wrong with a filter text, with the position; null if it is valid. */
export function filterProblem(text: string): string | null {
  try {
    parseFilter(text);
    return null;
  } catch (error) {
    if (error instanceof FilterError) return error.message;
    throw error;
  }
}

/**
 * Compiles the filter to a condition on the row `alias` of a shard's `runs`: true for the runs that
 * match, false or null for others. Throws a FilterError if it has more conditions or values than one
 * statement of SQLite allows.
 */
export function compileFilter(filter: Filter, alias: string): Sql {
  const compiled = runCondition(filter, alias);
  checkLimits([compiled]);
  return compiled;
}

/**
 * Compiles all of the scopes to one condition on the row `alias` of a shard's `runs`; "1" if there are
 * none. Throws a FilterError, whose `scope` names the text at fault unless the fault lies in all of them
 * together. Whether it throws does not depend on `known`. If only runs that start within `span` are
 * requested, only the traces of these runs are searched.
 */
export function compileScopes(
  { filter, traceFilter, treeFilter }: ScopeTexts,
  alias: string,
  known: KnownTraces = { trace: [], tree: [] },
  span?: TimeSpan,
): Sql {
  const own = optional(filter, (text) =>
    inScope("filter", () => runCondition(parseTree(text), alias)),
  );
  const traces = optional(traceFilter, (text) => tracesSql("trace", text, tracesWithin(span)));
  const trees = optional(treeFilter, (text) => tracesSql("tree", text, tracesWithin(span)));
  checkLimits([...own, ...traces, ...trees]);
  return allOf([
    ...own,
    ...traces.map((query) => amongSql(alias, query, known.trace)),
    ...trees.map((query) => amongSql(alias, query, known.tree)),
  ]);
}

/** Returns the syntax trees of the given texts. Throws a FilterError. */
export function parsedScopes({ filter, traceFilter, treeFilter }: ScopeTexts): Filter[] {
  return [filter, traceFilter, treeFilter].flatMap((text) =>
    text === undefined ? [] : [parseTree(text)],
  );
}

/**
 * Returns a query for the `trace_id` of those given traces that match the filter with a run of this
 * shard: with their root run ("trace") or with any run ("tree"). Throws a FilterError.
 */
export function matchingTracesSql(
  scope: keyof KnownTraces,
  filter: string,
  traceIds: readonly string[],
): Sql {
  const traces = tracesSql(scope, filter, "SELECT value FROM json_each(?)");
  checkLimits([traces]);
  return sql(`${traces.text} GROUP BY scoped.trace_id`, JSON.stringify(traceIds), ...traces.params);
}

/**
 * Returns a query that ends within its WHERE clause. `among` selects the ids of traces: their runs are
 * searched for between the first and the last start that their traces record. The parameters of `among`
 * come before those of the query.
 */
function tracesSql(scope: keyof KnownTraces, text: string, among: string | null): Sql {
  const matches = inScope(`${scope}_filter`, () => runCondition(parseTree(text), "scoped"));
  const root = scope === "trace" ? "scoped.parent_run_id IS NULL AND " : "";
  const runs =
    among === null
      ? "runs AS scoped WHERE"
      : `traces AS spread CROSS JOIN runs AS scoped
           ON ${startsBetween("scoped", "spread.first_start", "spread.last_start")}
             AND scoped.trace_id = spread.trace_id
         WHERE spread.trace_id IN (${among}) AND`;
  return {
    text: `SELECT scoped.trace_id FROM ${runs} ${root}${matches.text}`,
    params: matches.params,
  };
}

function tracesWithin(span: TimeSpan | undefined): string | null {
  if (typeof span?.from !== "number" && typeof span?.to !== "number") return null;
  const within = startsWithin("near", span.from ?? 0, span.to ?? Number.MAX_SAFE_INTEGER);
  return `SELECT near.trace_id FROM runs AS near WHERE ${within}`;
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
