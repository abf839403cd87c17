import { listProjects, type ProjectFilter, type ProjectRow } from "../../../../db/projects-repo.ts";
import { invalidField } from "../../../../lib/api-error.ts";
import type { ProjectListQuery } from "./schemas.ts";
import { SORT_STAT, sortByStats } from "./sort-by-stats.ts";
import { projectStats } from "./project-stats.ts";
import { toProjectJson } from "./project-json.ts";

const DEFAULT_LIMIT = 100;

/** Sorting by a statistic computes it for all that match. */
const MAX_SORTED_BY_STATS = 500;

/** One page of the projects that match, as the API shows them. */
export async function findProjects(env: Env, workspaceId: string, query: ProjectListQuery) {
  const { include_stats: includeStats, stats_select: select, facets } = query;
  if (facets === true && includeStats !== true) {
    throw invalidField(["query", "facets"], "Facets come with include_stats only", "value_error");
  }
  const rows = await findPage(env, workspaceId, query);
  if (includeStats !== true || rows.length === 0) return rows.map(toProjectJson);
  const wanted = select && facets === true ? [...select, "run_facets" as const] : select;
  const ids = rows.map(({ id }) => id);
  const stats = await projectStats(env, workspaceId, ids, query, wanted);
  return rows.map((row) => Object.assign(toProjectJson(row), stats.get(row.id)));
}

async function findPage(
  env: Env,
  workspaceId: string,
  query: ProjectListQuery,
): Promise<ProjectRow[]> {
  const { limit = DEFAULT_LIMIT, offset = 0, sort_by: by = "start_time" } = query;
  const { sort_by_desc: descending = true, sort_by_feedback_key: feedbackKey } = query;
  const filter = toFilter(query);
  if (by === "name" || by === "start_time") {
    const page = { sortBy: by, descending, limit, offset };
    return listProjects(env.DB, workspaceId, filter, page);
  }
  if (by === "feedback" && feedbackKey === undefined) {
    const loc = ["query", "sort_by_feedback_key"];
    throw invalidField(loc, "Field required to sort by feedback", "missing");
  }
  const all = await listProjects(env.DB, workspaceId, filter, {
    sortBy: "start_time",
    descending: true,
    limit: MAX_SORTED_BY_STATS + 1,
    offset: 0,
  });
  if (all.length > MAX_SORTED_BY_STATS) {
    const msg = `At most ${MAX_SORTED_BY_STATS} projects can be sorted by ${by}: more match`;
    throw invalidField(["query", "sort_by"], msg, "too_many");
  }
  const ids = all.map(({ id }) => id);
  const stats = await projectStats(env, workspaceId, ids, query, [SORT_STAT[by]]);
  return sortByStats(all, stats, { by, feedbackKey, descending }).slice(offset, offset + limit);
}

function toFilter(query: ProjectListQuery): ProjectFilter {
  return {
    ids: query.id,
    name: query.name,
    nameContains: query.name_contains,
    metadata: query.metadata,
    hasReferenceDataset: query.reference_free === true ? false : undefined,
    referenceDatasetIds: query.reference_dataset,
  };
}
