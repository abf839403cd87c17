import { toIso } from "../../../lib/time.ts";
import type { RunKwargs } from "../contract/run-request.ts";
import { toRunJson } from "../contract/thread-json.ts";
import type { RunRow } from "../storage/run-row.ts";

/**
 * A longer input of the run, and longer values of its thread, are left out: each attempt has the whole payload in
 * memory, beside the run that executes then.
 */
const MAX_MEMBER_CHARS = 4 * 1024 * 1024;

/**
 * JSON text of an object: the run as the API shows it when it has ended, when it began and ended, the state that it
 * left, its error. `kwargs` and `values` are JSON texts, null where there are none.
 */
export function webhookPayload(
  row: RunRow,
  { threadId, kwargs, values }: { threadId: string; kwargs: string | null; values: string | null },
): string {
  const tooLong = { kwargs: isTooLong(kwargs), values: isTooLong(values) };
  const omitted = Object.entries(tooLong).flatMap(([name, isOmitted]) => (isOmitted ? name : []));
  const given: RunKwargs | null =
    kwargs === null || tooLong.kwargs ? null : (JSON.parse(kwargs) as RunKwargs);
  const { webhook_delivery: _own, ...run } = toRunJson(row, threadId, given);
  const facts = {
    ...run,
    run_started_at: row.started_at === null ? null : toIso(row.started_at),
    run_ended_at: row.ended_at === null ? null : toIso(row.ended_at),
    ...(row.error === null ? {} : { error: JSON.parse(row.error) as unknown }),
    ...(omitted.length === 0 ? {} : { omitted }),
  };
  const shown = tooLong.values ? "null" : (values ?? "{}");
  return `${JSON.stringify(facts).slice(0, -1)},"values":${shown}}`;
}

function isTooLong(json: string | null): boolean {
  return json !== null && json.length > MAX_MEMBER_CHARS;
}
