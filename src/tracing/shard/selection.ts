import { allOf, isAmong, type Sql, sql } from "../../db/sql.ts";
import { compileScopes, type KnownTraces, type TimeSpan } from "../filter/filter.ts";
import type { Micros } from "../../lib/time.ts";
import type { RunType } from "../model/run-write.ts";

/** Selects runs. All members must hold; undefined ones do not restrict. */
export type RunSelection = {
  ids?: readonly string[] | undefined;
  traceId?: string | undefined;
  parentRunId?: string | undefined;
  runType?: RunType | undefined;
  isRoot?: boolean | undefined;
  hasError?: boolean | undefined;
  referenceExampleIds?: readonly string[] | undefined;
  threadId?: string | undefined;
  hasThread?: boolean | undefined;
  /** Bounds of the run's start, both inclusive. */
  from?: Micros | undefined;
  to?: Micros | undefined;
  /** Texts of the filter language: for the run, for its trace's root, and for any run of its trace. */
  filter?: string | undefined;
  traceFilter?: string | undefined;
  treeFilter?: string | undefined;
  /** The dotted order of a run: selects that run and its descendants. */
  within?: string | undefined;
};

/**
 * Returns the selection as a condition on the row `alias` of `runs`, for runs that start within `span`. Throws
 * a FilterError.
 */
export function selectionSql(
  selection: RunSelection,
  alias: string,
  known: KnownTraces = { trace: [], tree: [] },
  span?: TimeSpan,
): Sql {
  const { ids, traceId, parentRunId, runType, isRoot, hasError, from, to } = selection;
  const conditions: Sql[] = [];
  const column = (name: string): string => `${alias}.${name}`;
  if (ids !== undefined) conditions.push(isAmong(column("id"), ids));
  if (traceId !== undefined) conditions.push(sql(`${column("trace_id")} = ?`, traceId));
  if (parentRunId !== undefined)
    conditions.push(sql(`${column("parent_run_id")} = ?`, parentRunId));
  if (runType !== undefined) conditions.push(sql(`${column("run_type")} = ?`, runType));
  if (isRoot !== undefined) {
    conditions.push(sql(`${column("parent_run_id")} IS ${isRoot ? "" : "NOT "}NULL`));
  }
  if (hasError !== undefined) {
    conditions.push(sql(`${column("status")} ${hasError ? "=" : "<>"} 'error'`));
  }
  const { referenceExampleIds, threadId, hasThread, within } = selection;
  if (referenceExampleIds !== undefined) {
    conditions.push(isAmong(column("reference_example_id"), referenceExampleIds));
  }
  if (threadId !== undefined) conditions.push(sql(`${column("thread_id")} = ?`, threadId));
  if (hasThread === true) conditions.push(sql(`${column("thread_id")} IS NOT NULL`));
  if (from !== undefined) conditions.push(sql(`${column("start_time")} >= ?`, from));
  if (to !== undefined) conditions.push(sql(`${column("start_time")} <= ?`, to));
  if (within !== undefined) {
    // Texts that begin with the order and a dot sort before the order with a slash, the character after the dot.
    const order = column("dotted_order");
    const below = `${order} > ? AND ${order} < ?`;
    conditions.push(sql(`(${order} = ? OR (${below}))`, within, `${within}.`, `${within}/`));
  }
  conditions.push(compileScopes(selection, alias, known, span));
  return allOf(conditions);
}
