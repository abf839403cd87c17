import { allOf, type Sql, sql } from "../../db/sql.ts";
import { FilterError, type FilterScope } from "./filter-error.ts";
import { startsBetween, startsWithin } from "./run-key.ts";
import type { Filter } from "./filter-tree.ts";
import { parseTree } from "./parse.ts";
import { runCondition } from "./run-condition.ts";

export { FilterError, type FilterScope } from "./filter-error.ts";
export type { Filter } from "./filter-tree.ts";

/** SQLite inside a Durable Object takes 100 in a statement; the rest is for other conditions. */
const MAX_PARAMETERS = 80;
/** A statement may have 100,000; the rest is for other conditions. */
const MAX_SQL_CHARS = 80_000;

/** Texts of the filter language; undefined where there is none. */
export type ScopeTexts = {
  /** What each run fulfils. */
  filter?: string | undefined;
  /** What the root run of the run's trace fulfils. */
  traceFilter?: string | undefined;
  /** What any run of the run's trace fulfils. */
  treeFilter?: string | undefined;
};

/** Bounds of the starts of runs, in microseconds; inclusive, and null for no bound. */
export type TimeSpan = { from: number | null; to: number | null };

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

/** What is wrong with a filter text, with the place in it; null when nothing is. */
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
 * Whether it throws does not depend on `known`. Where only runs that start within `span` are asked for,
 * their traces alone are looked at.
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

/** The syntax trees of the texts that there are. Throws a FilterError. */
export function parsedScopes({ filter, traceFilter, treeFilter }: ScopeTexts): Filter[] {
  return [filter, traceFilter, treeFilter].flatMap((text) =>
    text === undefined ? [] : [parseTree(text)],
  );
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
  const traces = tracesSql(scope, filter, "SELECT value FROM json_each(?)");
  checkLimits([traces]);
  return sql(`${traces.text} GROUP BY scoped.trace_id`, JSON.stringify(traceIds), ...traces.params);
}

/**
 * Ends inside of its WHERE. `among` selects the ids of traces: their runs are looked for where their traces
 * say that they start. Its parameters come before those of the query.
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
