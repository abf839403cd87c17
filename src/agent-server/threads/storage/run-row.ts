export const RUN_STATUSES = [
  "pending",
  "running",
  "success",
  "error",
  "timeout",
  "interrupted",
] as const;

export type RunStatus = (typeof RUN_STATUSES)[number];

export const MULTITASK_STRATEGIES = ["reject", "rollback", "interrupt", "enqueue"] as const;

export type MultitaskStrategy = (typeof MULTITASK_STRATEGIES)[number];

export type RunRow = {
  seq: number;
  run_id: string;
  assistant_id: string;
  graph_id: string;
  status: RunStatus;
  multitask_strategy: MultitaskStrategy;
  metadata: string;
  resumable: number;
  created_at: number;
  updated_at: number;
  started_at: number | null;
  ended_at: number | null;
  attempt: number;
  next_event: number;
  error: string | null;
  stop: string | null;
  expires_at: number | null;
  principal: string | null;
  revision_id: string | null;
  /** JSON of a WebhookRecord. */
  webhook: string | null;
  first_seq: number | null;
  /** JSON of the run's kwargs; null if they are too long for the row: see run-kwargs.ts. */
  kwargs: string | null;
};

export function isInFlight(run: RunRow): boolean {
  return run.status === "pending" || run.status === "running";
}

/**
 * The runs with these ids, whether or not they have ended, or the runs in flight with a status; "all" is any
 * status.
 */
export type ThreadRunSelection = { run_ids: string[] } | { status: "pending" | "running" | "all" };
