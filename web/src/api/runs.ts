import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import type { Feedback } from "../feedback/use-rating.ts";
import type { Tracing } from "./tracing.ts";

/** The fields of a traced run that the table and the waterfall show. */
export type RunSummary = {
  id: string;
  name: string;
  run_type: string;
  status: string;
  start_time: string;
  end_time: string | null;
  error: string | null;
  session_id: string;
  trace_id: string;
  parent_run_id: string | null;
  dotted_order: string;
  inputs_preview?: string | null;
  outputs_preview?: string | null;
  total_tokens: number | null;
  total_cost: string | null;
  first_token_time?: string | null;
  tags?: string[] | null;
  feedback_stats?: Record<string, { avg?: number | null; n?: number }> | null;
};

export type Run = RunSummary & {
  inputs: unknown;
  outputs: unknown;
  extra: Record<string, unknown> | null;
  events: unknown[] | null;
  thread_id?: string | null;
  prompt_tokens: number | null;
  completion_tokens: number | null;
};

type Page = { runs: RunSummary[]; cursors: { next: string | null } };

const PAGE = 100;
/** Maximum pages of a trace; further spans are not shown. */
const MOST_PAGES_OF_TRACE = 20;

const SUMMARY = [
  "id",
  "name",
  "run_type",
  "status",
  "start_time",
  "end_time",
  "error",
  "session_id",
  "trace_id",
  "parent_run_id",
  "dotted_order",
  "total_tokens",
  "total_cost",
  "first_token_time",
  "tags",
  "feedback_stats",
];

const WITH_PREVIEWS = [...SUMMARY, "inputs_preview", "outputs_preview"];

/**
 * Loads the runs of a project that match a filter, either its root runs or the others, page by page, the
 * newest first.
 */
export function runsQuery(
  tracing: Tracing,
  projectId: string,
  filter: string,
  { isRoot = true }: { isRoot?: boolean } = {},
) {
  return infiniteQueryOptions({
    queryKey: ["runs", projectId, filter, isRoot],
    queryFn: ({ pageParam, signal }) =>
      tracing<Page>("/runs/query", {
        method: "POST",
        body: {
          session: [projectId],
          is_root: isRoot,
          limit: PAGE,
          select: WITH_PREVIEWS,
          ...(filter === "" ? {} : { filter }),
          ...(pageParam === null ? {} : { cursor: pageParam }),
        },
        signal,
      }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ cursors }) => cursors.next,
    // Structural sharing would compare all earlier pages with each new one.
    structuralSharing: false,
  });
}

/** Loads all runs of a trace, without their inputs and outputs. */
export function traceQuery(tracing: Tracing, traceId: string | undefined) {
  return queryOptions({
    queryKey: ["traces", traceId],
    enabled: traceId !== undefined,
    queryFn: async ({ signal }): Promise<RunSummary[]> => {
      const runs: RunSummary[] = [];
      let cursor: string | null = null;
      for (let page = 0; page < MOST_PAGES_OF_TRACE; page++) {
        const body: object = {
          trace: traceId,
          limit: PAGE,
          select: SUMMARY,
          order: "asc",
          ...(cursor === null ? {} : { cursor }),
        };
        const found: Page = await tracing<Page>("/runs/query", { method: "POST", body, signal });
        runs.push(...found.runs);
        cursor = found.cursors.next;
        if (cursor === null) break;
      }
      return runs;
    },
  });
}

export function runQuery(tracing: Tracing, runId: string) {
  return queryOptions({
    queryKey: ["run", runId],
    queryFn: ({ signal }) => tracing<Run>(`/runs/${encodeURIComponent(runId)}`, { signal }),
  });
}

export function feedbackQuery(tracing: Tracing, runId: string) {
  return queryOptions({
    queryKey: ["feedback", runId, "all"],
    queryFn: ({ signal }) =>
      tracing<Feedback[]>(`/feedback?run=${encodeURIComponent(runId)}&limit=100`, { signal }),
  });
}

type Checked = { valid: boolean; errors: { message: string }[] };

/** Loads the error message for a filter; null when the filter is valid. */
export function filterProblemQuery(tracing: Tracing, filter: string) {
  return queryOptions({
    queryKey: ["filter", filter],
    enabled: filter !== "",
    staleTime: Infinity,
    queryFn: async ({ signal }): Promise<string | null> => {
      const body = { filter };
      const { errors } = await tracing<Checked>("/runs/query/validate", {
        method: "POST",
        body,
        signal,
      });
      return errors[0]?.message ?? null;
    },
  });
}
