import type { AppContext } from "../../../../http/app-types.ts";
import { checkedFilter } from "../queries/read-selection.ts";
import { projectStats } from "./project-stats.ts";
import { STATS_SELECT } from "../queries/stats-json.ts";
import type { Micros } from "../../../model/run-write.ts";
import { projectFeedbackStats } from "../../../feedback/project-feedback.ts";

const OF_PROJECT = "session_feedback_stats";

/** What `stats_select` may name. */
export const PROJECT_STATS = [...STATS_SELECT, OF_PROJECT] as const;

export type StatsOptions = {
  stats_start_time?: Micros | undefined;
  stats_filter?: string | undefined;
};

/** The statistics of projects, as members of their JSON; `select` undefined: all there are. */
export async function statsMembers(
  c: AppContext,
  ids: string[],
  { stats_start_time: startTime, stats_filter: filterText }: StatsOptions,
  select?: readonly (typeof PROJECT_STATS)[number][],
): Promise<Map<string, Record<string, unknown>>> {
  const filter = checkedFilter(["query", "stats_filter"], filterText);
  const [ofRuns, ofProjects] = await Promise.all([
    projectStats(c, ids, {
      ...(startTime === undefined ? {} : { startTime }),
      ...(filter === undefined ? {} : { filter }),
      ...(select === undefined ? {} : { select: [...select] }),
    }),
    select === undefined || select.includes(OF_PROJECT)
      ? projectFeedbackStats(c.env.DB, c.var.scope.workspaceId, ids)
      : null,
  ]);
  return new Map(
    ids.map((id) => {
      const members: Record<string, unknown> = {};
      Object.assign(members, ofRuns.get(id));
      if (ofProjects !== null) members[OF_PROJECT] = ofProjects.get(id);
      return [id, members] as const;
    }),
  );
}
