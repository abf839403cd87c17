import { startOfDay } from "../../../../../../src/lib/utc-day.ts";
import { NO_AMOUNTS } from "../../../../../../src/tracing/model/run-row.ts";
import type { ReadRun } from "../../../../../../src/tracing/api/v2/run-json.ts";

export const PROJECT_ID = "0198c0de-0000-7000-8000-00000000bbbb";
export const TRACE_ID = "0198c0de-0000-7000-8000-000000000001";
export const RUN_ID = "0198c0de-0000-7000-8000-000000000002";

/** 2026-08-01T12:00:00.000001Z, in microseconds. */
export const NOON = startOfDay(20_666) + 43_200_000_001;

/** Returns a pending LLM run below a root, with its position only. */
export function readRun(columns: Partial<ReadRun["run"]> = {}): ReadRun {
  return {
    ref: { projectId: PROJECT_ID },
    run: {
      id: RUN_ID,
      trace_id: TRACE_ID,
      parent_run_id: TRACE_ID,
      dotted_order: `20260801T120000000000Z${TRACE_ID}.20260801T120000000001Z${RUN_ID}`,
      name: "model",
      run_type: "llm",
      start_time: NOON,
      end_time: null,
      status: "pending",
      error: null,
      tags: null,
      reference_example_id: null,
      thread_id: null,
      inputs_preview: null,
      outputs_preview: null,
      first_token_time: null,
      own_amounts: null,
      ...NO_AMOUNTS,
      price_model_id: null,
      feedback_stats: null,
      attachments: null,
      patched: 0,
      inserted_at: NOON,
      received_at: NOON,
      payloads: {},
      ...columns,
    },
  };
}
