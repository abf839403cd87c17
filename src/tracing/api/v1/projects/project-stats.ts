import type { AppContext } from "../../../../http/app-types.ts";
import type { Micros } from "../../../model/run-write.ts";
import { ALL_RUNS } from "../../../shard/shard-stats.ts";
import { collectStats } from "../../../query/run-stats.ts";
import { neededFor, STATS_SELECT, type StatsSelect, statsJson } from "../queries/stats-json.ts";

/**
 * Statistics of the root runs of projects, in the API's form, by project id. `select` names what is
 * wanted (names that are no statistic are left out); `filter` is a text of the filter language,
 * already checked.
 */
export type ProjectStatsReader = (
  c: AppContext,
  projectIds: string[],
  options: { startTime?: Micros; filter?: string; select?: string[] },
) => Promise<Map<string, Record<string, unknown>>>;

const PROJECTS_AT_ONCE = 4;

export const projectStats: ProjectStatsReader = async (c, projectIds, options) => {
  const { startTime, filter, select } = options;
  const names =
    select === undefined ? STATS_SELECT : STATS_SELECT.filter((name) => select.includes(name));
  const stats = new Map<string, Record<string, unknown>>();
  for (let start = 0; start < projectIds.length; start += PROJECTS_AT_ONCE) {
    const some = projectIds.slice(start, start + PROJECTS_AT_ONCE);
    await Promise.all(
      some.map(async (id) => {
        stats.set(id, await statsOf(c, id, { from: startTime, filter }, names));
      }),
    );
  }
  return stats;
};

async function statsOf(
  c: AppContext,
  projectId: string,
  selection: { from: Micros | undefined; filter: string | undefined },
  names: readonly StatsSelect[],
): Promise<Record<string, unknown>> {
  const groups = await collectStats(c.env, {
    workspaceId: c.var.scope.workspaceId,
    projectIds: [projectId],
    selection: { ...selection, isRoot: true },
    groupBy: null,
    query: neededFor(names),
  });
  const totals = groups.get(ALL_RUNS);
  if (totals === undefined) return {};
  const last = statsJson(totals, ["last_run_start_time"])["last_run_start_time"];
  return { ...statsJson(totals, names), last_run_start_time_live: last };
}
