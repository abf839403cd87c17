import { createRoute, z } from "@hono/zod-openapi";
import type { AppContext } from "../../../../http/app-types.ts";
import { ApiError } from "../../../../lib/api-error.ts";
import { uuidParam } from "../../../../http/path-params.ts";
import { createRouter } from "../../../../http/router.ts";
import { microsToIso } from "../../../../lib/time.ts";
import { requireProject } from "../../../projects/project-cache.ts";
import type { ThreadTotals } from "../../../shard/shard-threads.ts";
import { formatCost } from "../../../usage/costs.ts";
import { toSeconds } from "../../../usage/money.ts";
import { mergeFeedbackAverages, neededFor, STATS_SELECT, toStatsJson } from "./stats-json.ts";
import { percentile } from "../../../model/histogram.ts";
import { timeValue } from "../../../../http/time-value.ts";
import { checkedFilter } from "./selection.ts";
import { collectStats } from "../../../query/run-stats.ts";
import { ALL_RUNS } from "../../../shard/shard-stats.ts";
import { threadGroupSchema, threadGroupStatsSchema } from "./stats-schema.ts";
import { findThreadTotals } from "../../../query/threads.ts";

export const threadGroupRoutes = createRouter();

const groupRequest = z.strictObject({
  session_id: uuidParam(),
  group_by: z.literal("conversation"),
  filter: z.string().nullish(),
  start_time: timeValue().nullish(),
  end_time: timeValue().nullish(),
  offset: z.int().min(0).default(0),
  limit: z.int().min(1).max(100).default(10),
});

const groupBody = { required: true, content: { "application/json": { schema: groupRequest } } };

threadGroupRoutes.openapi(
  createRoute({
    method: "post",
    path: "/runs/group",
    tags: ["Runs of traces"],
    summary: "List the threads of a project, the latest first",
    request: { body: groupBody },
    responses: {
      200: {
        description: "The threads of the page, and the total number of threads",
        content: {
          "application/json": {
            schema: z.object({
              groups: z.array(threadGroupSchema),
              total: z.int(),
            }),
          },
        },
      },
    },
  }),
  async (c) => {
    const { offset, limit, ...request } = c.req.valid("json");
    const threads = await threadsOf(c, request);
    const groups = threads.slice(offset, offset + limit).map(threadJson);
    return c.json({ groups, total: threads.length }, 200);
  },
);

threadGroupRoutes.openapi(
  createRoute({
    method: "post",
    path: "/runs/group/stats",
    tags: ["Runs of traces"],
    summary: "Get statistics of the runs of a project's threads",
    request: { body: groupBody },
    responses: {
      200: {
        description: "The statistics of `/runs/stats`, and `group_count`",
        content: { "application/json": { schema: threadGroupStatsSchema } },
      },
    },
  }),
  async (c) => {
    const request = c.req.valid("json");
    const threads = await threadsOf(c, request);
    const groups = await collectStats(c.env, {
      workspaceId: c.var.scope.workspaceId,
      projectIds: [request.session_id],
      selection: { ...selectionOf(request), isRoot: true, hasThread: true },
      groupBy: null,
      query: neededFor(STATS_SELECT),
    });
    const totals = groups.get(ALL_RUNS);
    const stats = totals === undefined ? {} : toStatsJson(totals, STATS_SELECT);
    return c.json({ ...stats, group_count: threads.length }, 200);
  },
);

threadGroupRoutes.openapi(
  createRoute({
    method: "get",
    path: "/runs/threads/{thread_id}",
    tags: ["Runs of traces"],
    summary: "Get a thread's first inputs and last outputs",
    request: {
      params: z.object({ thread_id: z.string() }),
      query: z.strictObject({ session_id: uuidParam() }),
    },
    responses: {
      200: {
        description: "The previews",
        content: {
          "application/json": {
            schema: z.object({
              thread_id: z.string(),
              previews: z.record(z.string(), z.string().nullable()),
            }),
          },
        },
      },
    },
  }),
  async (c) => {
    const { thread_id } = c.req.valid("param");
    const { session_id } = c.req.valid("query");
    const { workspaceId } = c.var.scope;
    await requireProject(c.env.DB, workspaceId, session_id, "Session");
    const [thread] = await findThreadTotals(c.env, {
      workspaceId,
      projectIds: [session_id],
      selection: { threadId: thread_id },
    });
    if (thread === undefined) throw new ApiError("not_found", "Thread not found");
    const previews = { first_inputs: thread.firstInputs, last_outputs: thread.lastOutputs };
    return c.json({ thread_id, previews }, 200);
  },
);

type GroupRequest = Omit<z.output<typeof groupRequest>, "offset" | "limit">;

async function threadsOf(c: AppContext, request: GroupRequest): Promise<ThreadTotals[]> {
  const selection = selectionOf(request);
  const { workspaceId } = c.var.scope;
  await requireProject(c.env.DB, workspaceId, request.session_id, "Session");
  return findThreadTotals(c.env, {
    workspaceId,
    projectIds: [request.session_id],
    selection,
  });
}

function selectionOf({ filter, start_time, end_time }: GroupRequest) {
  return {
    filter: checkedFilter(["body", "filter"], filter),
    from: start_time ?? undefined,
    to: end_time ?? undefined,
  };
}

function threadJson(thread: ThreadTotals): z.output<typeof threadGroupSchema> {
  const seconds = (fraction: number): number | null => {
    const micros = percentile(thread.latency, fraction);
    return micros === null ? null : toSeconds(micros);
  };
  return {
    group_key: thread.threadId,
    thread_id: thread.threadId,
    filter: `eq(thread_id, ${JSON.stringify(thread.threadId)})`,
    count: thread.count,
    total_tokens: thread.totalTokens,
    // A number here, unlike the costs of runs, because clients expect a number for threads.
    total_cost: thread.totalCost === null ? null : Number(formatCost(thread.totalCost)),
    min_start_time: microsToIso(thread.minStart),
    max_start_time: microsToIso(thread.maxStart),
    latency_p50: seconds(0.5),
    latency_p99: seconds(0.99),
    feedback_stats: mergeFeedbackAverages(thread.feedbackStats),
    first_inputs: thread.firstInputs,
    last_outputs: thread.lastOutputs,
    last_error: thread.lastError,
  };
}
