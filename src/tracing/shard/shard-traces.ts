import type { Sql } from "../../db/sql.ts";
import { daysOf } from "../model/dotted-order.ts";
import { matchingTracesSql } from "../filter/filter.ts";

const MAX_METADATA_COUNTS = 10_000;

/** Traces with runs in this shard and on other days: those days, as far as this shard knows them. */
export function splitTraces(sql: SqlStorage, day: number): { traceId: string; days: number[] }[] {
  const days = new Map<string, Set<number>>();
  const add = (traceId: string, other: number): void => {
    const known = days.get(traceId);
    if (known === undefined) days.set(traceId, new Set([other]));
    else known.add(other);
  };
  for (const row of sql.exec<{ trace_id: string; day: number }>("SELECT * FROM trace_parts")) {
    add(row.trace_id, row.day);
  }
  // The root is not here; the dotted order of each of its runs says on which day it is.
  const rootless = sql.exec<{ trace_id: string; dotted_order: string | null }>(
    `SELECT t.trace_id, (SELECT min(dotted_order) FROM runs WHERE trace_id = t.trace_id) AS dotted_order
     FROM traces t WHERE NOT EXISTS (SELECT 1 FROM runs WHERE id = t.trace_id)`,
  );
  for (const { trace_id, dotted_order } of rootless) {
    // A run was sent in the name of this trace that belongs to another one.
    if (dotted_order === null) continue;
    const home = daysOf(dotted_order)[0];
    if (home !== undefined && home !== day) add(trace_id, home);
  }
  return [...days].map(([traceId, set]) => ({ traceId, days: [...set] }));
}

/** The days on which a trace whose root is here has runs too. */
export function otherDaysOf(sql: SqlStorage, traceId: string): number[] {
  return sql
    .exec<{ day: number }>("SELECT day FROM trace_parts WHERE trace_id = ?", traceId)
    .toArray()
    .map(({ day }) => day);
}

/** Which of these traces fulfil a scope's filter by a run of this shard. */
export function matchingTraces(
  sql: SqlStorage,
  scope: "trace" | "tree",
  filter: string,
  traceIds: readonly string[],
): string[] {
  const { text, params } = matchingTracesSql(scope, filter, traceIds);
  return sql
    .exec<{ trace_id: string }>(text, ...params)
    .toArray()
    .map(({ trace_id }) => trace_id);
}

export type MetadataCount = { key: string; value: string; n: number };

/** The most frequent values of each metadata key among the runs for which the condition holds. */
export function readMetadataCounts(
  sql: SqlStorage,
  condition: Sql,
  keys: readonly string[] | null,
): MetadataCount[] {
  const among = keys === null ? "1" : "a.key IN (SELECT value FROM json_each(?))";
  return sql
    .exec<MetadataCount>(
      `SELECT a.key, a.value, count(*) AS n FROM runs r
         JOIN json_each(r.attribute_ids) ra
         JOIN attributes a ON a.attribute_id = ra.value AND a.kind = 'metadata'
       WHERE ${among} AND ${condition.text}
       GROUP BY 1, 2 ORDER BY n DESC, 1, 2 LIMIT ${MAX_METADATA_COUNTS}`,
      ...(keys === null ? [] : [JSON.stringify(keys)]),
      ...condition.params,
    )
    .toArray();
}
