import {
  ancestorIds,
  formatDottedOrder,
  formatDottedSegment,
  SEGMENT_CHARS,
} from "../../model/dotted-order.ts";
import type { Micros } from "../../../lib/time.ts";
import type { Attachment, RunWrite } from "../../model/run-write.ts";
import type { ParentRef, SpanIdentity } from "./span-identity.ts";
import { type RejectedSpan, rejectedSpan, type SpanRef } from "./otlp-error.ts";
import type { SpanAttachment } from "./inputs-outputs.ts";
import type { SpanRun } from "./span-run.ts";
import { readRun } from "../decode/run-body.ts";

/** Maximum depth of a tree: each level makes the dotted orders of all runs below it 59 characters longer. */
const MAX_DEPTH = 1000;

type Placeable = { span: SpanRef; identity: SpanIdentity; startTime: Micros };

/** The place of a run in its tree. */
export type SpanPlace =
  | { type: "known"; dottedOrder: string }
  /** `path` is the part of the dotted order that follows the parent's; the parent is elsewhere. */
  | { type: "below"; parent: ParentRef; path: string }
  | { type: "nowhere"; reason: string };

/** Finds the place of each span among the others, in linear time whatever the parents are. */
export function placeSpans<T extends Placeable>(spans: readonly T[]): Map<T, SpanPlace> {
  const bySpan = new Map(spans.map((each) => [spanKey(each.span), each]));
  const byRunId = new Map(spans.map((each) => [each.identity.runId, each]));
  const findParent = (child: T, { runId, ifRoot }: ParentRef): T | undefined =>
    (ifRoot === null
      ? undefined
      : bySpan.get(spanKey({ traceId: child.span.traceId, spanId: ifRoot.spanId }))) ??
    byRunId.get(runId);
  const places = new Map<T, SpanPlace>();
  for (const span of spans) {
    const unplaced = new Set<T>();
    let above: SpanPlace | null = null;
    for (let current: T | undefined = span; current !== undefined;) {
      const known = places.get(current);
      if (known !== undefined || unplaced.has(current)) {
        above = known ?? { type: "nowhere", reason: "its chain of parents is a circle" };
        break;
      }
      unplaced.add(current);
      const parent: ParentRef | null = current.identity.parent;
      const found: T | undefined = parent === null ? undefined : findParent(current, parent);
      if (parent !== null && found === undefined) above = { type: "below", parent, path: "" };
      current = found;
    }
    for (const each of [...unplaced].toReversed()) {
      above = placeBelow(above, each);
      places.set(each, above);
    }
  }
  return places;
}

/** Returns the dotted order of a run whose parent's dotted order is now known. */
function dottedOrderBelow(
  parentDottedOrder: string,
  path: string,
): Exclude<SpanPlace, { type: "below" }> {
  const dottedOrder = `${parentDottedOrder}.${path}`;
  return isTooDeep(dottedOrder) ? tooDeep() : { type: "known", dottedOrder };
}

function placeBelow(above: SpanPlace | null, { identity, startTime }: Placeable): SpanPlace {
  if (identity.dottedOrder !== null) {
    return { type: "known", dottedOrder: formatDottedOrder(identity.dottedOrder) };
  }
  const segment = formatDottedSegment(startTime, identity.runId);
  if (above === null) return { type: "known", dottedOrder: segment };
  switch (above.type) {
    case "known":
      return dottedOrderBelow(above.dottedOrder, segment);
    case "below": {
      const path = above.path === "" ? segment : `${above.path}.${segment}`;
      return isTooDeep(path) ? tooDeep() : { ...above, path };
    }
    case "nowhere":
      return above;
  }
}

function isTooDeep(dottedOrder: string): boolean {
  return dottedOrder.length >= MAX_DEPTH * (SEGMENT_CHARS + 1);
}

function tooDeep(): Extract<SpanPlace, { type: "nowhere" }> {
  return { type: "nowhere", reason: `it is nested deeper than ${MAX_DEPTH} runs` };
}

function spanKey({ traceId, spanId }: SpanRef): string {
  return `${traceId}/${spanId}`;
}

/** A run like an item of `post` in a batch, with its attachments, which a batch cannot carry. */
export type MappedRun = { run: PlacedSpanRun; attachments: SpanAttachment[] };

export type PlacedSpanRun = SpanRun & {
  trace_id: string;
  parent_run_id?: string;
  dotted_order: string;
};

type Unplaced = {
  run: SpanRun;
  attachments: SpanAttachment[];
  identity: Pick<SpanIdentity, "traceId">;
};

/** Returns a run at its place, or the reason why there is no such place. */
export function placedRun(
  { run, attachments, identity: { traceId } }: Unplaced,
  place: Exclude<SpanPlace, { type: "below" }>,
): MappedRun | { reason: string } {
  if (place.type === "nowhere") return place;
  const { dottedOrder } = place;
  const ancestors = ancestorIds(dottedOrder);
  const rootId = ancestors[0] ?? run.id;
  if (traceId !== null && traceId !== rootId) {
    return {
      reason: `langsmith.trace.id ${traceId} differs from ${rootId}, the trace of its parent`,
    };
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

/** Converts a run to a write. Throws InvalidRun. */
export function toRunWrite(run: PlacedSpanRun, attachments: readonly Attachment[]): RunWrite {
  const write = readRun("post", run, { identity: "required" });
  return attachments.length === 0 ? write : { ...write, attachments: [...attachments] };
}

/**
 * A run below a parent that is not known yet. `path` is the part of its dotted order that will follow the
 * parent's: one segment for a child, more for deeper descendants. All of it is plain data, except for the
 * bytes of attachments, so that it can be stored until the parent arrives.
 */
export type Orphan = Unplaced & { span: SpanRef; path: string };

/** All the orphans of one request below one parent. */
export type OrphanGroup = { parent: ParentRef; orphans: Orphan[] };

type PlacedBelow = {
  draft: Unplaced & { span: SpanRef };
  place: Extract<SpanPlace, { type: "below" }>;
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

/** Places orphans below their parent, whose dotted order is now known. */
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
