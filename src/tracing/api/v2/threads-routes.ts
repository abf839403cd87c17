import { createRoute, z } from "@hono/zod-openapi";
import type { AppContext } from "../../../http/app-types.ts";
import { uuidParam } from "../../../http/path-params.ts";
import { listParam } from "../../../http/query-params.ts";
import { createRouter } from "../../../http/router.ts";
import { encodeCursor } from "../../model/run-page.ts";
import {
  checkedFilters,
  encodeWindowCursor,
  pageSizeParam,
  positionCursor,
  type ThreadsQueryBody,
  threadsQuerySchema,
  type TimeWindow,
  TRACES_PAGE,
  windowOf,
} from "./request-schemas.ts";
import { streamItems } from "./item-stream.ts";
import { requireProject } from "../../projects/project-cache.ts";
import {
  threadsPageSchema,
  threadStatsSchema,
  threadTracesPageSchema,
} from "./response-schemas.ts";
import { payloadsOfFields } from "./run-fields.ts";
import { THREAD_STATS_FIELDS, threadStats, toThreadSummaryJson } from "./thread-stats.ts";
import { threadsPage } from "./threads-page.ts";
import { THREAD_TRACE_FIELDS, toThreadTraceJson } from "./trace-json.ts";
import { findThreadTotals } from "../../query/threads.ts";
import type { RunSelection } from "../../shard/selection.ts";
import type { ThreadTotals } from "../../shard/shard-threads.ts";

export const threadV2Routes = createRouter();

const threadParams = z.object({ thread_id: z.string().min(1) });

threadV2Routes.openapi(
  createRoute({
    method: "post",
    path: "/threads/query",
    tags: ["Traces (v2)"],
    summary: "Query the threads of a project's traces",
    request: {
      body: { required: true, content: { "application/json": { schema: threadsQuerySchema } } },
    },
    responses: {
      200: {
        description: "A page of threads, the latest first",
        content: { "application/json": { schema: threadsPageSchema } },
      },
    },
  }),
  async (c) => c.json(await listThreads(c, c.req.valid("json")), 200),
);

threadV2Routes.openapi(
  createRoute({
    method: "get",
    path: "/threads/{thread_id}/traces",
    tags: ["Traces (v2)"],
    summary: "List the traces of a thread",
    request: {
      params: threadParams,
      query: z.strictObject({
        project_id: uuidParam(),
        filter: z.string().optional(),
        cursor: positionCursor().optional(),
        page_size: pageSizeParam().optional(),
        selects: listParam(THREAD_TRACE_FIELDS).optional(),
      }),
    },
    responses: {
      200: {
        description: "A page of traces in the order of their start",
        content: { "application/json": { schema: threadTracesPageSchema } },
      },
    },
  }),
  async (c) => {
    const { thread_id } = c.req.valid("param");
    const { project_id, cursor, page_size, selects, ...query } = c.req.valid("query");
    const { workspaceId } = c.var.scope;
    const { filter } = checkedFilters("query", { filter: query.filter });
    await requireProject(c.env.DB, workspaceId, project_id);
    const fields = selects ?? [];
    return (await streamItems(c.env, {
      query: {
        workspaceId,
        projectIds: [project_id],
        selection: { threadId: thread_id, isRoot: true, filter },
        order: "asc",
        after: cursor ?? null,
        payloads: payloadsOfFields(fields.filter((field) => field !== "OP" && field !== "LATENCY")),
      },
      limit: page_size ?? TRACES_PAGE,
      render: (roots) => Promise.resolve(roots.map((root) => toThreadTraceJson(root, fields))),
      end: (next) => (next === null ? {} : { next_cursor: encodeCursor(next) }),
    })) as never;
  },
);

threadV2Routes.openapi(
  createRoute({
    method: "get",
    path: "/threads/{thread_id}/stats",
    tags: ["Traces (v2)"],
    summary: "Get statistics of a thread",
    request: {
      params: threadParams,
      query: z.strictObject({
        session_id: uuidParam(),
        selects: listParam(THREAD_STATS_FIELDS),
        filter: z.string().optional(),
      }),
    },
    responses: {
      200: {
        description: "The selected statistics of the thread's traces",
        content: { "application/json": { schema: threadStatsSchema } },
      },
    },
  }),
  async (c) => {
    const { thread_id } = c.req.valid("param");
    const { session_id, selects, ...query } = c.req.valid("query");
    const { workspaceId } = c.var.scope;
    const { filter } = checkedFilters("query", { filter: query.filter });
    await requireProject(c.env.DB, workspaceId, session_id);
    const selection = { threadId: thread_id, isRoot: true, filter };
    const stats = await threadStats(
      c.env,
      { workspaceId, projectId: session_id, selection },
      selects,
    );
    return c.json(stats, 200);
  },
);

async function listThreads(c: AppContext, body: ThreadsQueryBody) {
  const { workspaceId } = c.var.scope;
  const { filter, trace_filter, tree_filter } = body;
  const checked = checkedFilters("body", { filter, trace_filter, tree_filter });
  await requireProject(c.env.DB, workspaceId, body.project_id);
  const cursor = body.cursor ?? null;
  const window = windowOf(body, cursor?.window, Date.now() * 1000);
  const threads = await queryThreads(c.env, {
    workspaceId,
    projectId: body.project_id,
    window,
    // Only root runs are queried, so a filter on the root is a filter on the run itself.
    narrowedBy: [
      ...(checked.filter === undefined ? [] : [{ filter: checked.filter }]),
      ...(checked.traceFilter === undefined ? [] : [{ filter: checked.traceFilter }]),
      ...(checked.treeFilter === undefined ? [] : [{ treeFilter: checked.treeFilter }]),
    ],
  });
  const { items, next } = threadsPage(
    threads,
    cursor?.position ?? null,
    body.page_size ?? TRACES_PAGE,
  );
  return {
    items: items.map(toThreadSummaryJson),
    ...(next === null ? {} : { next_cursor: encodeWindowCursor({ position: next, window }) }),
  };
}

type ThreadsQuery = {
  workspaceId: string;
  projectId: string;
  /** The time window; its end is exclusive. */
  window: TimeWindow;
  /** Each must hold for at least one of the thread's traces, but not all for the same trace. */
  narrowedBy: readonly Pick<RunSelection, "filter" | "treeFilter">[];
};

/** Returns threads with a turn in the window, the latest first, with the totals of their turns in it. */
async function queryThreads(env: Env, query: ThreadsQuery): Promise<ThreadTotals[]> {
  const { workspaceId, projectId, window } = query;
  const find = (selection: RunSelection): Promise<ThreadTotals[]> =>
    findThreadTotals(env, {
      workspaceId,
      projectIds: [projectId],
      selection: { ...selection, from: window.from, to: window.to - 1 },
    });
  const [threads, ...matching] = await Promise.all([find({}), ...query.narrowedBy.map(find)]);
  const allowed = matching.map((some) => new Set(some.map(({ threadId }) => threadId)));
  return threads.filter(({ threadId }) => allowed.every((ids) => ids.has(threadId)));
}
