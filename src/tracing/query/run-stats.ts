import {
  ALL_RUNS,
  type FeedbackTotals,
  type GroupTotals,
  type GroupBy,
  type StatsQuery,
  type StatsTotals,
} from "../shard/shard-stats.ts";
import { mergeHistograms } from "../model/histogram.ts";
import { readAllShards } from "./all-shards.ts";
import type { RunSelection } from "../shard/selection.ts";
import type { Micros } from "../../lib/time.ts";

const MAX_GROUPS_PER_TURN = 10_000;

/** Maximum number of names, types and tags together. */
const MAX_FACETS = 1000;

type StatsRequest = {
  workspaceId: string;
  projectIds: readonly string[] | undefined;
  selection: RunSelection;
  groupBy: GroupBy | null;
  query: Pick<StatsQuery, "measures" | "details" | "feedback" | "facets">;
};

/** Returns the totals of the selected runs of all shards, by group; without groups, under `ALL_RUNS`. */
export async function collectStats(
  env: Env,
  { groupBy, query, ...request }: StatsRequest,
): Promise<Map<string, StatsTotals>> {
  const groups = new Map<string, StatsTotals>();
  const add = ({ group, totals }: GroupTotals): void => {
    const before = groups.get(group);
    groups.set(group, before === undefined ? totals : addTotals(before, totals));
  };
  const question = { ...query, groupBy, maxGroups: MAX_GROUPS_PER_TURN };
  await readAllShards(
    env,
    request,
    (stub, after, known) => stub.stats(request.selection, question, after, known),
    add,
  );
  if (groupBy === null && groups.size === 0) groups.set(ALL_RUNS, NO_RUNS);
  return groups;
}

const NO_RUNS: StatsTotals = {
  runs: 0,
  errors: 0,
  streamed: 0,
  ended: 0,
  latencySum: 0,
  lastStart: null,
  totalTokens: 0,
  promptTokens: 0,
  completionTokens: 0,
  totalCost: null,
  promptCost: null,
  completionCost: null,
  histograms: {},
  details: {},
  feedback: {},
  facets: [],
};

function addTotals(left: StatsTotals, right: StatsTotals): StatsTotals {
  return {
    runs: left.runs + right.runs,
    errors: left.errors + right.errors,
    streamed: left.streamed + right.streamed,
    ended: left.ended + right.ended,
    latencySum: left.latencySum + right.latencySum,
    lastStart: maxOf(left.lastStart, right.lastStart),
    totalTokens: left.totalTokens + right.totalTokens,
    promptTokens: left.promptTokens + right.promptTokens,
    completionTokens: left.completionTokens + right.completionTokens,
    totalCost: addNullable(left.totalCost, right.totalCost),
    promptCost: addNullable(left.promptCost, right.promptCost),
    completionCost: addNullable(left.completionCost, right.completionCost),
    histograms: mergeRecords(left.histograms, right.histograms, (one, other) =>
      mergeHistograms([one, other]),
    ),
    details: mergeRecords(left.details, right.details, (one, other) =>
      mergeRecords(one, other, (first, second) => first + second),
    ),
    feedback: mergeRecords(left.feedback, right.feedback, addFeedback),
    facets: addFacets([...left.facets, ...right.facets]),
  };
}

function addFeedback(left: FeedbackTotals, right: FeedbackTotals): FeedbackTotals {
  return {
    judged: left.judged + right.judged,
    counted: left.counted + right.counted,
    scored: left.scored + right.scored,
    sum: left.sum + right.sum,
    squares: left.squares + right.squares,
    min: left.min === null ? right.min : Math.min(left.min, right.min ?? left.min),
    max: maxOf(left.max, right.max),
    errors: left.errors + right.errors,
    values: mergeRecords(left.values, right.values, (one, other) => one + other),
  };
}

function addFacets(facets: StatsTotals["facets"]): StatsTotals["facets"] {
  const sums = new Map<string, StatsTotals["facets"][number]>();
  for (const { key, value, n } of facets) {
    const name = `${key}\n${value}`;
    sums.set(name, { key, value, n: n + (sums.get(name)?.n ?? 0) });
  }
  return [...sums.values()].toSorted((left, right) => right.n - left.n).slice(0, MAX_FACETS);
}

/** Returns the members of both records; `add` combines two values of one name. */
function mergeRecords<T>(
  left: Partial<Record<string, T>>,
  right: Partial<Record<string, T>>,
  add: (one: T, other: T) => T,
): Record<string, T> {
  const merged = new Map<string, T>();
  for (const [name, value] of [...Object.entries(left), ...Object.entries(right)]) {
    if (value === undefined) continue;
    const before = merged.get(name);
    merged.set(name, before === undefined ? value : add(before, value));
  }
  return Object.fromEntries(merged);
}

function maxOf(left: number | null, right: number | null): number | null {
  return left === null ? right : Math.max(left, right ?? left);
}

function addNullable(left: number | null, right: number | null): number | null {
  return left === null ? right : left + (right ?? 0);
}

/** Returns the most frequent values of each metadata key of a project's runs, at most `k` of each. */
export async function projectMetadata(
  env: Env,
  { workspaceId, projectId }: { workspaceId: string; projectId: string },
  options: { keys?: string[]; k: number; rootsOnly: boolean; startTime?: Micros },
): Promise<Record<string, string[]>> {
  const { keys, k, rootsOnly, startTime } = options;
  const selection = { from: startTime, isRoot: rootsOnly ? true : undefined };
  const byKey = new Map<string, Map<string, number>>();
  const add = ({ key, value, n }: { key: string; value: string; n: number }): void => {
    const values = byKey.get(key) ?? new Map<string, number>();
    values.set(value, (values.get(value) ?? 0) + n);
    byKey.set(key, values);
  };
  await readAllShards(
    env,
    { workspaceId, projectIds: [projectId], selection },
    (stub, after) => stub.metadataCounts(selection, keys ?? null, after),
    add,
  );
  return Object.fromEntries(
    [...byKey].map(([key, values]) => [
      key,
      [...values]
        .toSorted(([, left], [, right]) => right - left)
        .slice(0, k)
        .map(([value]) => value),
    ]),
  );
}
