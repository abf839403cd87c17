import { createRoute, z } from "@hono/zod-openapi";
import { invalidField } from "../../../../lib/api-error.ts";
import { notServed } from "../../../../http/not-served.ts";
import { createRouter } from "../../../../http/router.ts";
import { ALL_RUNS, type GroupBy } from "../../../shard/shard-stats.ts";
import { selectionMembers } from "./query-schemas.ts";
import { readSelection } from "./read-selection.ts";
import { groupedRunStatsSchema, runStatsSchema } from "./stats-schema.ts";
import { collectStats } from "../../../query/run-stats.ts";
import { neededFor, STATS_SELECT, toStatsJson } from "./stats-json.ts";

export const statsRoutes = createRouter();

const DEFAULT_MAX_GROUPS = 5;

const groupBySchema = z.strictObject({
  attribute: z.enum(["name", "run_type", "tag", "metadata"]),
  path: z.string().nullish(),
  max_groups: z.int().min(1).max(1000).nullish(),
});

statsRoutes.openapi(
  createRoute({
    method: "post",
    path: "/runs/stats",
    tags: ["Runs of traces"],
    summary: "Statistics of runs",
    request: {
      body: {
        required: true,
        content: {
          "application/json": {
            schema: z.strictObject({
              ...selectionMembers,
              select: z.array(z.enum(STATS_SELECT)).nullish(),
              group_by: groupBySchema.nullish(),
              groups: notServed("Lists of groups are not supported: group with group_by"),
            }),
          },
        },
      },
    },
    responses: {
      200: {
        description: "One object, or with `group_by` one for each group by its name",
        content: {
          "application/json": { schema: z.union([runStatsSchema, groupedRunStatsSchema]) },
        },
      },
    },
  }),
  async (c) => {
    const body = c.req.valid("json");
    const select = body.select ?? STATS_SELECT;
    const groupBy = body.group_by ? readGroupBy(body.group_by) : null;
    const groups = await collectStats(c.env, {
      workspaceId: c.var.scope.workspaceId,
      ...readSelection(body),
      groupBy,
      query: neededFor(select),
    });
    if (groupBy === null) {
      const totals = groups.get(ALL_RUNS);
      return c.json(totals === undefined ? {} : toStatsJson(totals, select), 200);
    }
    const largest = [...groups]
      .toSorted(([, left], [, right]) => right.runs - left.runs)
      .slice(0, body.group_by?.max_groups ?? DEFAULT_MAX_GROUPS);
    return c.json(
      Object.fromEntries(largest.map(([name, totals]) => [name, toStatsJson(totals, select)])),
      200,
    );
  },
);

function readGroupBy({ attribute, path }: z.output<typeof groupBySchema>): GroupBy {
  if (attribute !== "metadata") return { attribute };
  if (!path) {
    const msg = "Field required when the attribute is 'metadata': the key to group by";
    throw invalidField(["body", "group_by", "path"], msg, "missing");
  }
  return { attribute, path };
}
