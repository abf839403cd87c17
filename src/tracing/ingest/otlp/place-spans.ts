import { formatDottedOrder, formatDottedSegment } from "../../model/dotted-order.ts";
import type { Micros } from "../../model/run-write.ts";
import type { ParentRef, SpanIdentity } from "./span-identity.ts";
import type { SpanRef } from "./invalid-span.ts";

/** Each level makes the dotted order of all below 59 characters longer. */
const MAX_DEPTH = 1000;

export type Placeable = { span: SpanRef; identity: SpanIdentity; startTime: Micros };

/** Where in its tree a run is. */
export type Place =
  | { type: "known"; dottedOrder: string }
  /** `path` is what the dotted order has after the one of the parent, which is elsewhere. */
  | { type: "below"; parent: ParentRef; path: string }
  | { type: "nowhere"; reason: string };

/** Finds the place of each of the spans among the others; takes linear time, whatever the parents. */
export function placeSpans<T extends Placeable>(spans: readonly T[]): Map<T, Place> {
  const bySpan = new Map(spans.map((each) => [spanKey(each.span), each]));
  const byRunId = new Map(spans.map((each) => [each.identity.runId, each]));
  const findParent = (child: T, { runId, ifRoot }: ParentRef): T | undefined =>
    (ifRoot === null
      ? undefined
      : bySpan.get(spanKey({ traceId: child.span.traceId, spanId: ifRoot.spanId }))) ??
    byRunId.get(runId);
  const places = new Map<T, Place>();
  for (const span of spans) {
    const unplaced = new Set<T>();
    let above: Place | null = null;
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

/** The dotted order of a run whose parent's is known now. */
export function dottedOrderBelow(
  parentDottedOrder: string,
  path: string,
): Exclude<Place, { type: "below" }> {
  const dottedOrder = `${parentDottedOrder}.${path}`;
  return isTooDeep(dottedOrder) ? tooDeep() : { type: "known", dottedOrder };
}

function placeBelow(above: Place | null, { identity, startTime }: Placeable): Place {
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

/** The time, the `Z`, the UUID and the dot after it. */
const SEGMENT_CHARS = 59;

function isTooDeep(dottedOrder: string): boolean {
  return dottedOrder.length >= MAX_DEPTH * SEGMENT_CHARS;
}

function tooDeep(): Extract<Place, { type: "nowhere" }> {
  return { type: "nowhere", reason: `it is nested deeper than ${MAX_DEPTH} runs` };
}

function spanKey({ traceId, spanId }: SpanRef): string {
  return `${traceId}/${spanId}`;
}
