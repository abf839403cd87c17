import { ApiError, type ErrorCode } from "../../../lib/api-error.ts";

export type Result<T, Code extends string> =
  | { ok: true; value: T }
  | { ok: false; code: Code; message?: string };

type FailureCode =
  | "thread_not_found"
  | "thread_exists"
  | "thread_busy"
  | "thread_too_large"
  | "run_not_found"
  | "no_graph"
  | "invalid_update"
  | "graph_failed"
  | "graph_late";

const TEXTS: Record<FailureCode, { code: ErrorCode; text: (threadId: string) => string }> = {
  thread_not_found: { code: "not_found", text: (id) => `Thread with ID ${id} not found` },
  thread_exists: { code: "conflict", text: () => "Thread already exists" },
  thread_busy: { code: "conflict", text: () => "Thread is busy" },
  thread_too_large: {
    code: "payload_too_large",
    text: () => "The thread has more than 16 MB or 20,000 rows of checkpoints: it cannot be copied",
  },
  run_not_found: { code: "not_found", text: () => "Run not found" },
  no_graph: { code: "bad_request", text: (id) => `Thread ${id} has no graph ID` },
  invalid_update: { code: "validation", text: () => "The update is not valid" },
  graph_failed: { code: "bad_request", text: () => "The graph failed" },
  graph_late: { code: "timed_out", text: () => "The graph did not answer in time" },
};

/** Converts a refusal of a thread object to the API's error. */
export function threadFailure(
  failure: { code: FailureCode; message?: string },
  threadId: string,
): ApiError {
  const { code, text } = TEXTS[failure.code];
  return new ApiError(code, failure.message ?? text(threadId));
}

export const BUSY_TEXT =
  "Thread is already running a task. Wait for it to finish or choose a different multitask strategy.";
