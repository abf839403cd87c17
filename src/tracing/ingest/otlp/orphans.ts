import { type RejectedSpan, rejectedSpan, type SpanRef } from "./invalid-span.ts";
import { type MappedRun, placedRun, type Unplaced } from "./span-run-place.ts";
import { dottedOrderBelow, type Place } from "./place-spans.ts";
import type { ParentRef } from "./span-identity.ts";

/**
 * A run below a parent that is not known yet. `path` is what its dotted order will have after the
 * one of that parent: one segment for a child, more for deeper descendants. All of it is plain data
 * (but for the bytes of attachments), so that it can be stored until the parent is there.
 */
export type Orphan = Unplaced & { span: SpanRef; path: string };

/** All the orphans of one request below one parent. */
export type OrphanGroup = { parent: ParentRef; orphans: Orphan[] };

type PlacedBelow = {
  draft: Unplaced & { span: SpanRef };
  place: Extract<Place, { type: "below" }>;
};

export function groupOrphans(placed: readonly PlacedBelow[]): OrphanGroup[] {
  const groups = new Map<string, OrphanGroup>();
  for (const { draft, place } of placed) {
    const { parent, path } = place;
    const key = `${parent.runId}/${parent.ifRoot?.runId}`;
    let group = groups.get(key);
    if (group === undefined) {
      group = { parent, orphans: [] };
      groups.set(key, group);
    }
    const { run, attachments, span, identity } = draft;
    group.orphans.push({
      run,
      attachments,
      span: { traceId: span.traceId, spanId: span.spanId },
      identity: { traceId: identity.traceId },
      path,
    });
  }
  return [...groups.values()];
}

/** Gives orphans their places, now that the dotted order of their parent is known. */
export function adoptOrphans(
  orphans: readonly Orphan[],
  parentDottedOrder: string,
): { runs: MappedRun[]; rejected: RejectedSpan[] } {
  const runs: MappedRun[] = [];
  const rejected: RejectedSpan[] = [];
  for (const orphan of orphans) {
    const placed = placedRun(orphan, dottedOrderBelow(parentDottedOrder, orphan.path));
    if ("reason" in placed) rejected.push(rejectedSpan(orphan.span, placed.reason));
    else runs.push(placed);
  }
  return { runs, rejected };
}
