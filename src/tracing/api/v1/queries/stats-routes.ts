import { createRoute, z } from "@hono/zod-openapi";
import { invalidField } from "../../../../lib/api-error.ts";
import { notServed } from "../../../../http/not-served.ts";
import { createRouter } from "../../../../http/router.ts";
import { MICROS_PER_SECOND, microsToIso } from "../../../../lib/time.ts";
import type { RunSelection } from "../../../shard/selection.ts";
import { ALL_RUNS, type GroupBy } from "../../../shard/shard-stats.ts";
import { readSelection, selectionMembers } from "./selection.ts";
import { groupedRunStatsSchema, runStatsSchema } from "./stats-schema.ts";
import { collectStats } from "../../../query/run-stats.ts";
import { neededFor, STATS_SELECT, toStatsJson } from "./stats-json.ts";

export const statsRoutes = createRouter();

const DEFAULT_MAX_GROUPS = 5;

/** Maximum number of intervals: a longer time range needs longer intervals. */
const MAX_INTERVALS = 1000;
const MIN_INTERVAL_SECONDS = 10;
const MAX_INTERVAL_SECONDS = 31 * 86_400;

const groupBySchema = z.strictObject({
  attribute: z.enum(["name", "run_type", "tag", "metadata", "start_time"]),
  path: z.string().nullish().openapi({ description: "With `metadata`: the key to group by" }),
  interval_seconds: z
    .int()
    .min(MIN_INTERVAL_SECONDS)
    .max(MAX_INTERVAL_SECONDS)
    .nullish()
    .openapi({ description: "With `start_time`: the length of an interval in seconds" }),
  max_groups: z.int().min(1).max(1000).nullish().openapi({
    description:
      "Maximum number of groups, the largest first; `start_time` always returns all of them",
  }),
});

statsRoutes.openapi(
  createRoute({
    method: "post",
    path: "/runs/stats",
    tags: ["Runs of traces"],
    summary: "Get statistics of runs",
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
        description:
          "One object, or with `group_by` one for each group, keyed by its name; with `start_time` keyed by the start of each interval, in order",
        content: {
          "application/json": { schema: z.union([runStatsSchema, groupedRunStatsSchema]) },
        },
      },
    },
  }),
  async (c) => {
    const body = c.req.valid("json");
    const select = body.select ?? STATS_SELECT;
    const read = readSelection(body);
    const groupBy = body.group_by ? readGroupBy(body.group_by, read.selection) : null;
    const groups = await collectStats(c.env, {
      workspaceId: c.var.scope.workspaceId,
      ...read,
      groupBy,
      query: neededFor(select),
    });
    if (groupBy === null) {
      const totals = groups.get(ALL_RUNS);
      return c.json(totals === undefined ? {} : toStatsJson(totals, select), 200);
    }
    if (groupBy.attribute === "start_time") {
      return c.json(
        Object.fromEntries(
          [...groups]
            .map(([begin, totals]) => [Number(begin), totals] as const)
            .toSorted(([left], [right]) => left - right)
            .map(([begin, totals]) => [microsToIso(begin), toStatsJson(totals, select)]),
        ),
        200,
      );
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

function readGroupBy(group: z.output<typeof groupBySchema>, selection: RunSelection): GroupBy {
  const { attribute, path, interval_seconds: seconds } = group;
  if (attribute === "start_time") return readInterval(seconds ?? null, selection);
  if (attribute !== "metadata") return { attribute };
  if (!path) {
    const msg = "Field required when the attribute is 'metadata': the key to group by";
    throw invalidField(["body", "group_by", "path"], msg, "missing");
  }
  return { attribute, path };
}

function readInterval(seconds: number | null, { from, to }: RunSelection): GroupBy {
  const loc = ["body", "group_by", "interval_seconds"];
  if (seconds === null) {
    throw invalidField(loc, "Field required when the attribute is 'start_time'", "missing");
  }
  if (from === undefined) {
    const msg = "Field required to group by 'start_time'";
    throw invalidField(["body", "start_time"], msg, "missing");
  }
  const span = ((to ?? Date.now() * 1000) - from) / MICROS_PER_SECOND;
  if (span > seconds * MAX_INTERVALS) {
    const least = Math.ceil(span / MAX_INTERVALS);
    throw invalidField(
      loc,
      `Input should be at least ${least} for this time range`,
      "greater_than_equal",
    );
  }
  return { attribute: "start_time", intervalMicros: seconds * MICROS_PER_SECOND };
}
