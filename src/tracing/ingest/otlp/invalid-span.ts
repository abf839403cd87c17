import type { Span } from "./span.ts";

/** Thrown for one span that cannot become a run; the message does not say which one it is. */
export class InvalidSpan extends Error {
  override readonly name = "InvalidSpan";
}

/** A span that did not become a run, while others of the request did. */
export type RejectedSpan = {
  traceId: string;
  spanId: string;
  /** Names the span. */
  message: string;
};

export type SpanRef = Pick<Span, "traceId" | "spanId">;

export function rejectedSpan({ traceId, spanId }: SpanRef, reason: string): RejectedSpan {
  return { traceId, spanId, message: `${spanName({ traceId, spanId })}: ${reason}` };
}

/** For messages; ids of a wrong size may be of any size. */
export function spanName({ traceId, spanId }: SpanRef): string {
  return `span ${spanId.slice(0, 32)} of trace ${traceId.slice(0, 64)}`;
}
