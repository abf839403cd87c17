import type { Span } from "./span.ts";

/** The error of a body that is not a trace export request, or exceeds the limits; the message says why. */
export class InvalidTraces extends Error {
  override readonly name = "InvalidTraces";
}

/** The error of a content type that is neither protobuf nor JSON. */
export class UnsupportedContentType extends Error {
  override readonly name = "UnsupportedContentType";
}

/** Maximum spans of a request. Collectors send batches of 8192 and a few more. */
const MAX_SPANS = 20_000;

/** Maximum depth of lists and maps within each other. */
const MAX_VALUE_DEPTH = 100;

export function checkSpanCount(count: number): void {
  if (count <= MAX_SPANS) return;
  throw new InvalidTraces(`there are more than ${MAX_SPANS} spans in one request`);
}

export function checkValueDepth(depth: number): void {
  if (depth <= MAX_VALUE_DEPTH) return;
  throw new InvalidTraces(
    `the value of an attribute is nested deeper than ${MAX_VALUE_DEPTH} levels`,
  );
}

/** Thrown for one span that cannot become a run; the message does not name the span. */
export class InvalidSpan extends Error {
  override readonly name = "InvalidSpan";
}

/** A span that did not become a run, while others of the request did. */
export type RejectedSpan = {
  traceId: string;
  spanId: string;
  /** The reason, which also names the span. */
  message: string;
};

export type SpanRef = Pick<Span, "traceId" | "spanId">;

export function rejectedSpan({ traceId, spanId }: SpanRef, reason: string): RejectedSpan {
  return { traceId, spanId, message: `${spanName({ traceId, spanId })}: ${reason}` };
}

/** Names a span in a message. Invalid ids may be of any length, so they are shortened. */
export function spanName({ traceId, spanId }: SpanRef): string {
  return `span ${spanId.slice(0, 32)} of trace ${traceId.slice(0, 64)}`;
}
