import { daysOf } from "../model/dotted-order.ts";
import { payloadTextLength, type RunWrite } from "../model/run-write.ts";

/**
 * Maximum length of a write's payloads, in UTF-16 code units. As JSON, a longer write would exceed the limit in
 * pending-runs.ts anyway, so it need not be serialized to find that out.
 */
const MAX_PAYLOAD_CHARS = 16 * 1024;

/**
 * Returns whether a write may wait for the update of its run: it is the create of a run that has not ended, and
 * nothing but the run's own row depends on it. `day` is the shard's.
 *
 * - An attachment, or a payload in R2, is deleted with the row that names it.
 * - Amounts count for the ancestors at once.
 * - The shards of other days are told of a trace that crosses midnight.
 * - A long text would go to disk twice, and be in memory until then.
 */
export function canWait(write: RunWrite, day: number): boolean {
  const { kind, identity, endTime, attachments, payloads } = write;
  return (
    kind === "post" &&
    identity !== undefined &&
    endTime === undefined &&
    payloads.error === undefined &&
    attachments === undefined &&
    Object.values(payloads).every((payload) => "json" in payload) &&
    payloadTextLength(write) <= MAX_PAYLOAD_CHARS &&
    !mayReportAmounts(write) &&
    daysOf(identity.dottedOrder).every((each) => each === day)
  );
}

/** Searches only the text of `extra`. JSON can hide the name in an escape, so any such escape counts, too. */
function mayReportAmounts({ facts, payloads: { extra } }: RunWrite): boolean {
  if (facts.usage !== undefined && facts.usage !== null) return true;
  if (extra === undefined || !("json" in extra)) return false;
  return extra.json.includes("usage_metadata") || extra.json.includes("\\u");
}
