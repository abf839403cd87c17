import {
  findProjects,
  type FoundProject,
  type ProjectFilter,
  type ProjectPage,
  readProjects,
} from "../../../../db/projects-repo.ts";
import { invalidField } from "../../../../lib/api-error.ts";
import { jsonListOf, type JsonText } from "../../../../lib/json-answer.ts";
import { type ProjectListQuery, toProjectJson } from "./schemas.ts";
import { SORT_STAT, sortByStats } from "./sort-by-stats.ts";
import { projectStats } from "./project-stats.ts";

const DEFAULT_LIMIT = 100;

/** Maximum number of matching projects when sorting by a statistic, which is computed for each of them. */
const MAX_SORTED_BY_STATS = 500;

/** Returns the JSON text of one page of the matching projects, as the API shows them. */
export async function listProjects(
  env: Env,
  workspaceId: string,
  query: ProjectListQuery,
): Promise<JsonText> {
  const { include_stats: includeStats, stats_select: select, facets } = query;
  if (facets === true && includeStats !== true) {
    throw invalidField(["query", "facets"], "Facets come with include_stats only", "value_error");
  }
  const found = await findPage(env, workspaceId, query);
  const rows = readProjects(env.DB, workspaceId, found);
  if (includeStats !== true || found.length === 0) return jsonListOf(rows, toProjectJson);
  const wanted = select && facets === true ? [...select, "run_facets" as const] : select;
  const ids = found.map(({ id }) => id);
  const stats = await projectStats(env, workspaceId, ids, query, wanted);
  return jsonListOf(rows, (row) => Object.assign(toProjectJson(row), stats.get(row.id)));
}

async function findPage(
  env: Env,
  workspaceId: string,
  query: ProjectListQuery,
): Promise<FoundProject[]> {
  const { limit = DEFAULT_LIMIT, offset = 0, sort_by: by = "start_time" } = query;
  const { sort_by_desc: descending = true, sort_by_feedback_key: feedbackKey } = query;
  if (by === "name" || by === "start_time") {
    return foundOrRefused(env, workspaceId, query, { sortBy: by, descending, limit, offset });
  }
  if (by === "feedback" && feedbackKey === undefined) {
    const loc = ["query", "sort_by_feedback_key"];
    throw invalidField(loc, "Field required to sort by feedback", "missing");
  }
  const all = await foundOrRefused(env, workspaceId, query, {
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

async function foundOrRefused(
  env: Env,
  workspaceId: string,
  query: ProjectListQuery,
  page: ProjectPage,
): Promise<FoundProject[]> {
  const found = await findProjects(env.DB, workspaceId, toFilter(query), page);
  if (found !== null) return found;
  const field = query.metadata === undefined ? "name_contains" : "metadata";
  const msg =
    'There are too many projects to look at all of them: name the candidates with "id", ' +
    "or leave the field out";
  throw invalidField(["query", field], msg, "query_too_large");
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
