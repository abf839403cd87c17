import { ancestorIds } from "../../model/dotted-order.ts";
import type { Place } from "./place-spans.ts";
import type { SpanAttachment } from "./span-attachments.ts";
import type { SpanIdentity } from "./span-identity.ts";
import type { SpanRun } from "./span-run.ts";
import { readRun } from "../decode/run-body.ts";
import type { Attachment, RunWrite } from "../../model/run-write.ts";

/** An item of `post` in a batch, and what a batch cannot carry. */
export type MappedRun = { run: PlacedSpanRun; attachments: SpanAttachment[] };

export type PlacedSpanRun = SpanRun & {
  trace_id: string;
  parent_run_id?: string;
  dotted_order: string;
};

export type Unplaced = {
  run: SpanRun;
  attachments: SpanAttachment[];
  identity: Pick<SpanIdentity, "traceId">;
};

/** A run at its place; the reason when there is no such place. */
export function placedRun(
  { run, attachments, identity: { traceId } }: Unplaced,
  place: Exclude<Place, { type: "below" }>,
): MappedRun | { reason: string } {
  if (place.type === "nowhere") return place;
  const { dottedOrder } = place;
  const ancestors = ancestorIds(dottedOrder);
  const rootId = ancestors[0] ?? run.id;
  if (traceId !== null && traceId !== rootId) {
    return { reason: `langsmith.trace.id ${traceId} differs from ${rootId}, where its parent is` };
  }
  const parentRunId = ancestors.at(-1);
  const placed: PlacedSpanRun = {
    ...run,
    trace_id: rootId,
    ...(parentRunId !== undefined && { parent_run_id: parentRunId }),
    dotted_order: dottedOrder,
  };
  return { run: placed, attachments };
}

/** Throws InvalidRun. */
export function toRunWrite(run: PlacedSpanRun, attachments: readonly Attachment[]): RunWrite {
  const write = readRun("post", run, { identity: "required" });
  return attachments.length === 0 ? write : { ...write, attachments: [...attachments] };
}
