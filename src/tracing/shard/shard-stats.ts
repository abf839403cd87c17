import type { Sql } from "../../db/sql.ts";
import { MAX_LABEL_CHARS } from "./feedback-stats.ts";
import type { TurnRuns } from "./scan-turn.ts";
import { bucketSql, type Histogram } from "../model/histogram.ts";

/** The measures that have percentiles and medians. */
const MEASURES = {
  latency: "(r.end_time - r.start_time)",
  first_token: "(r.first_token_time - r.start_time)",
  total_tokens: "r.total_tokens",
  prompt_tokens: "r.prompt_tokens",
  completion_tokens: "r.completion_tokens",
  total_cost: "r.total_cost",
} as const;

export type Measure = keyof typeof MEASURES;

const DETAILS = [
  "prompt_token_details",
  "completion_token_details",
  "prompt_cost_details",
  "completion_cost_details",
] as const;

export type DetailsColumn = (typeof DETAILS)[number];

export type GroupBy =
  | { attribute: "name" | "run_type" | "tag" }
  | { attribute: "metadata"; path: string }
  /** By the interval in which a run starts: its begin in microseconds, as a decimal text. */
  | { attribute: "start_time"; intervalMicros: number };

export type StatsQuery = {
  groupBy: GroupBy | null;
  measures: readonly Measure[];
  details: boolean;
  feedback: boolean;
  facets: boolean;
  maxGroups: number;
};

/** The feedback of one key. A row that is marked as an error counts only as an error. */
export type FeedbackTotals = {
  /** Number of rows that are not errors, and of those among them with a score or a label. */
  judged: number;
  counted: number;
  scored: number;
  sum: number;
  squares: number;
  min: number | null;
  max: number | null;
  errors: number;
  /** How often each label (a value that is a string) was given. */
  values: Record<string, number>;
};

/** Sums and counts that can be added over shards. Times are in microseconds, costs in picodollars. */
export type StatsTotals = {
  runs: number;
  errors: number;
  streamed: number;
  /** Number of runs that have ended, and the sum of their durations. */
  ended: number;
  latencySum: number;
  lastStart: number | null;
  totalTokens: number;
  promptTokens: number;
  completionTokens: number;
  totalCost: number | null;
  promptCost: number | null;
  completionCost: number | null;
  histograms: Partial<Record<Measure, Histogram>>;
  details: Partial<Record<DetailsColumn, Record<string, number>>>;
  feedback: Record<string, FeedbackTotals>;
  facets: { key: string; value: string; n: number }[];
};

export type GroupTotals = { group: string; totals: StatsTotals };

type BaseRow = Omit<StatsTotals, "histograms" | "details" | "feedback" | "facets"> & {
  group: string;
};

const MAX_FACETS = 200;
const MAX_LABELS = 1000;

/** The only group if there is no grouping. */
export const ALL_RUNS = "";

/** Returns the approximate work per run in microseconds: each requested statistic reads the runs again. */
export function statsWork({ measures, details, feedback, facets }: StatsQuery): number {
  return 3 + 2 * measures.length + (details ? 6 : 0) + (feedback ? 6 : 0) + (facets ? 8 : 0);
}

/** Returns totals of the runs, by group. */
export function readStats(
  storage: SqlStorage,
  { from: runs, condition }: TurnRuns,
  query: StatsQuery,
): GroupTotals[] {
  const { from, group } = grouping(query.groupBy, runs);
  const where = `FROM ${from} WHERE ${condition.text}`;
  const params = [...groupingParams(query.groupBy), ...condition.params];
  const totals = new Map<string, StatsTotals>();
  const rows = storage.exec<BaseRow>(
    `SELECT ${group} AS "group", count(*) AS runs, sum(r.status = 'error') AS errors,
       count(r.first_token_time) AS streamed, count(r.end_time) AS ended,
       total(r.end_time - r.start_time) AS latencySum, max(r.start_time) AS lastStart,
       total(r.total_tokens) AS totalTokens, total(r.prompt_tokens) AS promptTokens,
       total(r.completion_tokens) AS completionTokens, ${costSum("total_cost")} AS totalCost,
       ${costSum("prompt_cost")} AS promptCost, ${costSum("completion_cost")} AS completionCost
     ${where} GROUP BY 1 ORDER BY runs DESC LIMIT ?`,
    ...params,
    query.maxGroups,
  );
  for (const { group: name, ...base } of rows) {
    totals.set(name, { ...base, histograms: {}, details: {}, feedback: {}, facets: [] });
  }
  if (totals.size === 0) return [];
  for (const measure of query.measures) {
    const value = MEASURES[measure];
    const buckets = storage.exec<{ group: string; value: number; n: number }>(
      `SELECT ${group} AS "group", ${bucketSql(value)} AS value, count(*) AS n
       ${where} AND ${value} IS NOT NULL GROUP BY 1, 2 ORDER BY 2`,
      ...params,
    );
    for (const row of buckets) {
      const of = totals.get(row.group);
      if (of !== undefined)
        (of.histograms[measure] ??= []).push({ value: row.value, count: row.n });
    }
  }
  if (query.details) readDetails(storage, { from, group, condition, params }, totals);
  if (query.feedback) readFeedback(storage, { from, group, condition, params }, totals);
  if (query.facets) readFacets(storage, { from, group, condition, params }, totals);
  return [...totals].map(([group, of]) => ({ group, totals: of }));
}

/** Where sum() would fail, total() continues in floating point; up to 2^53 both are exact. */
function costSum(column: string): string {
  return `iif(count(r.${column}) = 0, NULL, total(r.${column}))`;
}

type Source = { from: string; group: string; condition: Sql; params: (string | number)[] };

function readDetails(
  storage: SqlStorage,
  { from, group, condition, params }: Source,
  totals: Map<string, StatsTotals>,
): void {
  for (const column of DETAILS) {
    const rows = storage.exec<{ group: string; key: string; total: number }>(
      `SELECT ${group} AS "group", d.key AS key, total(d.value) AS total
       FROM ${from} JOIN json_each(r.${column}) d
       WHERE ${condition.text} AND r.${column} IS NOT NULL GROUP BY 1, 2`,
      ...params,
    );
    for (const row of rows) {
      const of = totals.get(row.group);
      if (of !== undefined) (of.details[column] ??= {})[row.key] = row.total;
    }
  }
}

function readFeedback(
  storage: SqlStorage,
  { from, group, condition, params }: Source,
  totals: Map<string, StatsTotals>,
): void {
  const source = `FROM ${from} JOIN feedback f ON f.run_id = r.id WHERE ${condition.text}`;
  const isLabel = "coalesce(json_type(f.value) = 'text', 0)";
  const labels = storage
    .exec<{ group: string; key: string; label: string; n: number }>(
      `SELECT ${group} AS "group", f.key AS key,
         substr(f.value ->> '$', 1, ${MAX_LABEL_CHARS}) AS label, count(*) AS n
       ${source} AND NOT f.error AND ${isLabel}
       GROUP BY 1, 2, 3 ORDER BY n DESC LIMIT ${MAX_LABELS}`,
      ...params,
    )
    .toArray();
  const labelsOf = Map.groupBy(labels, ({ group: name, key }) => JSON.stringify([name, key]));
  const sums = storage
    .exec<Omit<FeedbackTotals, "values"> & { group: string; key: string }>(
      `SELECT ${group} AS "group", f.key AS key, sum(f.error) AS errors,
         count(*) FILTER (WHERE NOT f.error) AS judged,
         count(*) FILTER (WHERE NOT f.error AND (f.score IS NOT NULL OR ${isLabel})) AS counted,
         count(f.score) FILTER (WHERE NOT f.error) AS scored,
         total(f.score) FILTER (WHERE NOT f.error) AS sum,
         total(f.score * f.score) FILTER (WHERE NOT f.error) AS squares,
         min(f.score) FILTER (WHERE NOT f.error) AS min,
         max(f.score) FILTER (WHERE NOT f.error) AS max
       ${source} GROUP BY 1, 2`,
      ...params,
    )
    .toArray();
  for (const [name, rows] of Map.groupBy(sums, (row) => row.group)) {
    const of = totals.get(name);
    if (of === undefined) continue;
    const entries = rows.map(({ key, ...row }): [string, FeedbackTotals] => {
      const given = labelsOf.get(JSON.stringify([name, key])) ?? [];
      const values = Object.fromEntries(given.map(({ label, n }) => [label, n]));
      const { judged, counted, scored, sum, squares, min, max, errors } = row;
      return [key, { judged, counted, scored, sum, squares, min, max, errors, values }];
    });
    of.feedback = Object.fromEntries(entries);
  }
}

function readFacets(
  storage: SqlStorage,
  { from, group, condition, params }: Source,
  totals: Map<string, StatsTotals>,
): void {
  const add = (key: string, text: string): void => {
    const rows = storage.exec<{ group: string; value: string; n: number }>(text, ...params);
    for (const row of rows) totals.get(row.group)?.facets.push({ key, value: row.value, n: row.n });
  };
  for (const column of ["name", "run_type"] as const) {
    add(
      column,
      `SELECT ${group} AS "group", r.${column} AS value, count(*) AS n
       FROM ${from} WHERE ${condition.text} GROUP BY 1, 2 ORDER BY n DESC LIMIT ${MAX_FACETS}`,
    );
  }
  add(
    "tag",
    `SELECT ${group} AS "group", fa.value AS value, count(*) AS n
     FROM ${from} JOIN json_each(r.tags) fa ON ${isFirstOfTag("fa")}
     WHERE ${condition.text} GROUP BY 1, 2 ORDER BY n DESC LIMIT ${MAX_FACETS}`,
  );
}

function grouping(groupBy: GroupBy | null, runs: string): { from: string; group: string } {
  if (groupBy === null) return { from: runs, group: `'${ALL_RUNS}'` };
  if (groupBy.attribute === "name" || groupBy.attribute === "run_type") {
    return { from: runs, group: `r.${groupBy.attribute}` };
  }
  if (groupBy.attribute === "start_time") {
    // Numbers are bound as floating point, whose text would have an exponent.
    const begin = "CAST(r.start_time - r.start_time % ? AS INTEGER)";
    return { from: runs, group: `CAST(${begin} AS TEXT)` };
  }
  return groupBy.attribute === "tag"
    ? {
        from: `${runs} JOIN json_each(r.tags) g ON ${isFirstOfTag("g")}`,
        group: "g.value",
      }
    : {
        from: `${runs} JOIN json_each(r.metadata) g ON (g.value ->> 0) = ?`,
        group: "(g.value ->> 1)",
      };
}

/** Makes a run that has a tag twice count once. */
function isFirstOfTag(entry: string): string {
  return `NOT EXISTS (
    SELECT 1 FROM json_each(r.tags) twin WHERE twin.value = ${entry}.value AND twin.key < ${entry}.key)`;
}

/** The group precedes the source of the runs in the SQL, and only one of them has a parameter. */
function groupingParams(groupBy: GroupBy | null): (string | number)[] {
  if (groupBy?.attribute === "start_time") return [groupBy.intervalMicros];
  return groupBy?.attribute === "metadata" ? [groupBy.path] : [];
}
