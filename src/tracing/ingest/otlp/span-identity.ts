import { type DottedSegment, parseDottedOrder } from "../../model/dotted-order.ts";
import { parseUuid } from "../../../lib/uuid.ts";
import { type Attributes, type Span, textAttribute } from "./span.ts";
import { InvalidSpan } from "./otlp-error.ts";

/**
 * A parent, identified by the span that it was made from. The run id of that span depends on whether it was
 * the root of its trace, which only the span itself tells.
 */
export type ParentRef = {
  /** The parent's run id, unless the parent was a root span. */
  runId: string;
  /**
   * The parent if it was a root span: a run with this id whose metadata has `spanId` as OTEL_SPAN_ID. A run
   * with this id and another OTEL_SPAN_ID is not the parent. Null if the parent was named by its run id.
   */
  ifRoot: { runId: string; spanId: string } | null;
};

export type SpanIdentity = {
  runId: string;
  /** Null for the root of a trace, and if `dottedOrder` is given. */
  parent: ParentRef | null;
  /** The trace that the client assigns the run to; null if it names none. */
  traceId: string | null;
  /** The dotted order that the client gives; null if it gives none. */
  dottedOrder: DottedSegment[] | null;
};

/**
 * Returns the run id and the parent of a span. A trace id becomes a UUID, which is also the run id of the
 * span without a parent; all other spans have their 8 bytes right-aligned in a UUID of zeros. A span that the
 * client declares to be a root although it has a parent keeps such an id too, because one trace may have
 * several of them. Attributes such as `langsmith.span.id`, which attach spans to the runs of an SDK, take
 * precedence. Throws InvalidSpan.
 */
export function identityOf(span: Span): SpanIdentity {
  const { attributes } = span;
  checkId(span.traceId, 16, "trace_id");
  checkId(span.spanId, 8, "span_id");
  const hasParent = !/^0*$/.test(span.parentSpanId);
  if (hasParent) checkId(span.parentSpanId, 8, "parent_span_id");
  const ownId = uuidAttribute(attributes, "langsmith.span.id");
  const parentId = uuidAttribute(attributes, "langsmith.span.parent_id");
  const traceId = uuidAttribute(attributes, "langsmith.trace.id");
  const dottedOrder = dottedOrderOf(attributes, ownId, parentId, traceId);
  if (dottedOrder !== null) {
    return { runId: dottedOrder.at(-1)?.id ?? "", parent: null, traceId, dottedOrder };
  }
  const traceUuid = uuidOf(span.traceId);
  const runId = ownId ?? (hasParent ? uuidOf(span.spanId) : traceUuid);
  let parent: ParentRef | null = null;
  if (!isDeclaredRoot(attributes)) {
    if (parentId !== null) parent = parentByRunId(parentId, traceUuid);
    else if (hasParent) parent = parentBySpanId(span.parentSpanId, traceUuid);
    else if (traceId !== null && traceId !== runId) parent = { runId: traceId, ifRoot: null };
  }
  return { runId, parent, traceId, dottedOrder: null };
}

/** LangSmith's span processor names the nearest span that it exports by the UUID of its span id. */
function parentByRunId(runId: string, traceUuid: string): ParentRef {
  const spanId = /^0{8}-0{4}-0{4}-([0-9a-f]{4})-([0-9a-f]{12})$/.exec(runId);
  if (spanId === null) return { runId, ifRoot: null };
  return parentBySpanId(`${spanId[1]}${spanId[2]}`, traceUuid);
}

function parentBySpanId(spanId: string, traceUuid: string): ParentRef {
  return { runId: uuidOf(spanId), ifRoot: { runId: traceUuid, spanId } };
}

function isDeclaredRoot(attributes: Attributes): boolean {
  const value = attributes.get("langsmith.is_root");
  return value === true || value === "true";
}

function dottedOrderOf(
  attributes: Attributes,
  ownId: string | null,
  parentId: string | null,
  traceId: string | null,
): DottedSegment[] | null {
  const text = textAttribute(attributes, "langsmith.span.dotted_order");
  if (text === undefined) return null;
  const segments = parseDottedOrder(text);
  if (segments === null) {
    const format = "YYYYMMDDTHHMMSSffffffZ<run id> for each run from the root on, joined by dots";
    throw new InvalidSpan(`langsmith.span.dotted_order should be ${format}`);
  }
  const said = [
    ["langsmith.span.id", ownId, segments.at(-1)?.id],
    ["langsmith.span.parent_id", parentId, segments.at(-2)?.id],
    ["langsmith.trace.id", traceId, segments[0]?.id],
  ] as const;
  for (const [key, id, expected] of said) {
    if (id === null || id === expected) continue;
    throw new InvalidSpan(`${key} ${id} differs from what langsmith.span.dotted_order says`);
  }
  return segments;
}

function checkId(hex: string, bytes: number, field: string): void {
  if (hex.length !== 2 * bytes) {
    throw new InvalidSpan(`${field} should have ${bytes} bytes, not ${hex.length / 2}`);
  }
  if (/^0*$/.test(hex)) throw new InvalidSpan(`${field} should not be zero`);
}

function uuidAttribute(attributes: Attributes, key: string): string | null {
  const text = textAttribute(attributes, key);
  if (text === undefined) return null;
  const uuid = parseUuid(text);
  if (uuid === null) throw new InvalidSpan(`${key} should be a UUID`);
  return uuid;
}

/** `hex` has at most 32 digits. */
function uuidOf(hex: string): string {
  return hex.padStart(32, "0").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
