import { matchingTracesSql } from "../filter/filter.ts";
import type { TurnRuns } from "./scan-turn.ts";

const MAX_METADATA_COUNTS = 10_000;

/** Returns traces with runs in this shard and on other days, with those of these days that this shard knows. */
export function splitTraces(sql: SqlStorage): { traceId: string; days: number[] }[] {
  const days = new Map<string, Set<number>>();
  const add = (traceId: string, other: number): void => {
    const known = days.get(traceId);
    if (known === undefined) days.set(traceId, new Set([other]));
    else known.add(other);
  };
  for (const row of sql.exec<{ trace_id: string; day: number }>("SELECT * FROM trace_parts")) {
    add(row.trace_id, row.day);
  }
  const rootless = sql.exec<{ trace_id: string; home: number }>(
    "SELECT trace_id, home FROM traces WHERE home IS NOT NULL AND first_start IS NOT NULL",
  );
  for (const { trace_id, home } of rootless) add(trace_id, home);
  return [...days].map(([traceId, set]) => ({ traceId, days: [...set] }));
}

/** Returns the other days on which a trace whose root is here has runs. */
export function otherDaysOf(sql: SqlStorage, traceId: string): number[] {
  return sql
    .exec<{ day: number }>("SELECT day FROM trace_parts WHERE trace_id = ?", traceId)
    .toArray()
    .map(({ day }) => day);
}

/** Returns those of these traces that match a scope's filter with a run of this shard. */
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

/** Returns the most frequent values of each metadata key among the runs. */
export function readMetadataCounts(
  sql: SqlStorage,
  { from, condition }: TurnRuns,
  keys: readonly string[] | null,
): MetadataCount[] {
  const among = keys === null ? "1" : "(leaf.value ->> 0) IN (SELECT value FROM json_each(?))";
  return sql
    .exec<MetadataCount>(
      `SELECT leaf.value ->> 0 AS key, leaf.value ->> 1 AS value, count(*) AS n
       FROM ${from} JOIN json_each(r.metadata) leaf
       WHERE ${among} AND ${condition.text}
       GROUP BY 1, 2 ORDER BY n DESC, 1, 2 LIMIT ${MAX_METADATA_COUNTS}`,
      ...(keys === null ? [] : [JSON.stringify(keys)]),
      ...condition.params,
    )
    .toArray();
}
