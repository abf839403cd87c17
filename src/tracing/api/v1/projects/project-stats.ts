import type { Micros } from "../../../../lib/time.ts";
import { collectStats } from "../../../query/run-stats.ts";
import { ALL_RUNS } from "../../../shard/shard-stats.ts";
import { checkedFilter } from "../queries/selection.ts";
import { neededFor, STATS_SELECT, type StatsSelect, toStatsJson } from "../queries/stats-json.ts";
import { findProjectFeedback, readFeedback } from "../../../../db/feedback-pages.ts";
import { invalidField } from "../../../../lib/api-error.ts";
import {
  type FeedbackStat,
  feedbackStats,
  type ShardFeedback,
} from "../../../shard/feedback-stats.ts";
import { toShardFeedback } from "../../../feedback/feedback-shards.ts";

const OF_PROJECT = "session_feedback_stats";

/** The names that `stats_select` accepts. */
export const PROJECT_STATS = [...STATS_SELECT, OF_PROJECT] as const;

type ProjectStat = (typeof PROJECT_STATS)[number];

type StatsOptions = {
  stats_start_time?: Micros | undefined;
  stats_filter?: string | undefined;
};

const PROJECTS_AT_ONCE = 4;

/**
 * Returns the statistics of projects' root runs, and of the feedback about the projects themselves, as
 * members of the projects' JSON, by project id. Without `select` it returns all statistics.
 */
export async function projectStats(
  env: Env,
  workspaceId: string,
  ids: readonly string[],
  { stats_start_time: from, stats_filter: filterText }: StatsOptions,
  select: readonly ProjectStat[] = PROJECT_STATS,
): Promise<Map<string, Record<string, unknown>>> {
  const filter = checkedFilter(["query", "stats_filter"], filterText);
  const names = STATS_SELECT.filter((name) => select.includes(name));
  const [ofRuns, ofProjects] = await Promise.all([
    statsOfRuns(env, workspaceId, ids, { from, filter }, names),
    select.includes(OF_PROJECT) ? projectFeedbackStats(env.DB, workspaceId, ids) : null,
  ]);
  return new Map(
    ids.map((id) => {
      const members = { ...ofRuns.get(id) };
      if (ofProjects !== null) members[OF_PROJECT] = ofProjects.get(id);
      return [id, members] as const;
    }),
  );
}

type StatsSelection = { from: Micros | undefined; filter: string | undefined };

async function statsOfRuns(
  env: Env,
  workspaceId: string,
  projectIds: readonly string[],
  selection: StatsSelection,
  names: readonly StatsSelect[],
): Promise<Map<string, Record<string, unknown>>> {
  const stats = new Map<string, Record<string, unknown>>();
  for (let start = 0; start < projectIds.length; start += PROJECTS_AT_ONCE) {
    const some = projectIds.slice(start, start + PROJECTS_AT_ONCE);
    await Promise.all(
      some.map(async (id) => {
        stats.set(id, await statsOfProject(env, workspaceId, id, selection, names));
      }),
    );
  }
  return stats;
}

async function statsOfProject(
  env: Env,
  workspaceId: string,
  projectId: string,
  selection: StatsSelection,
  names: readonly StatsSelect[],
): Promise<Record<string, unknown>> {
  const groups = await collectStats(env, {
    workspaceId,
    projectIds: [projectId],
    selection: { ...selection, isRoot: true },
    groupBy: null,
    query: neededFor(names),
  });
  const totals = groups.get(ALL_RUNS);
  if (totals === undefined) return {};
  const last = toStatsJson(totals, ["last_run_start_time"])["last_run_start_time"];
  return { ...toStatsJson(totals, names), last_run_start_time_live: last };
}

/** Maximum number of feedback rows counted per request, newest first; projects have few. */
const MAX_ROWS = 2000;

/** Returns statistics of the feedback about projects as a whole, by project id and key. */
async function projectFeedbackStats(
  db: D1Database,
  workspaceId: string,
  projectIds: readonly string[],
): Promise<Map<string, Record<string, FeedbackStat>>> {
  const found = await findProjectFeedback(db, workspaceId, projectIds, MAX_ROWS);
  if (found === null) {
    const msg =
      "There is too much feedback about projects to compute its statistics: leave these out";
    throw invalidField(["query", "stats_select"], msg, "query_too_large");
  }
  const byProject = new Map<string, ShardFeedback[]>(projectIds.map((id) => [id, []]));
  for await (const row of readFeedback(db, workspaceId, found)) {
    byProject.get(row.session_id ?? "")?.push(toShardFeedback(row));
  }
  return new Map([...byProject].map(([id, rows]) => [id, feedbackStats(rows)] as const));
}
