import type { ThreadIndexRow } from "../../../db/threads-repo.ts";
import type { ThreadRow } from "../storage/thread-record.ts";

/** Values longer than this stay with the ThreadObject: the index is there to be searched. */
const MAX_VALUES_CHARS = 256 * 1024;

/** A D1 row holds at most 2 MB, and a character takes up to three bytes. */
const MAX_REST_CHARS = 384 * 1024;

/** What the index shows of a thread. */
export function toIndexRow(thread: ThreadRow, values: string | null): ThreadIndexRow {
  const { metadata, config, interrupts, error } = thread;
  const valuesChars = values?.length ?? 0;
  const restChars = metadata.length + config.length + interrupts.length + (error?.length ?? 0);
  const omitted =
    restChars > MAX_REST_CHARS ? "all" : valuesChars > MAX_VALUES_CHARS ? "values" : "none";
  const isWhole = omitted !== "all";
  return {
    workspace_id: thread.workspace_id,
    deployment_id: thread.deployment_id,
    thread_id: thread.thread_id,
    status: thread.status,
    // Searches need the metadata more than lists need the rest.
    metadata: metadata.length <= MAX_REST_CHARS ? metadata : "{}",
    config: isWhole ? config : "{}",
    state_values: omitted === "none" ? values : null,
    interrupts: isWhole ? interrupts : "{}",
    error: isWhole ? error : null,
    omitted,
    values_chars: valuesChars,
    json_chars: restChars + valuesChars,
    created_at: thread.created_at,
    updated_at: thread.updated_at,
    state_updated_at: thread.state_updated_at,
    version: thread.version,
  };
}
