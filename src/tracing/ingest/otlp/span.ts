import type { Micros } from "../../model/run-write.ts";

/**
 * The value of an attribute as JSON. What JSON cannot hold has the form that the JSON mapping of
 * protobuf gives it: bytes are base64, integers beyond 2^53 decimal text, and not finite numbers
 * "NaN", "Infinity" and "-Infinity".
 */
export type AttributeValue =
  | string
  | number
  | boolean
  | null
  | AttributeValue[]
  | { [key: string]: AttributeValue };

export type Attributes = ReadonlyMap<string, AttributeValue>;

export type SpanEvent = { name: string; time: Micros; attributes: Attributes };

/** Shared by the spans that came under it. */
export type SpanSource = {
  resource: Attributes;
  scopeName: string;
  scopeVersion: string;
  scopeAttributes: Attributes;
};

/** A span as it was sent; nothing is checked but that it could be read. */
export type Span = {
  source: SpanSource;
  /** Ids are lower-case hexadecimal of whatever length; "" when missing. */
  traceId: string;
  spanId: string;
  parentSpanId: string;
  name: string;
  /** Nanoseconds are cut off. 0 when missing. */
  startTime: Micros;
  endTime: Micros;
  attributes: Attributes;
  /** How many the client left out. */
  droppedAttributes: number;
  events: SpanEvent[];
  isError: boolean;
  statusMessage: string;
};

/** An integer as JSON: decimal text when a double does not hold it exactly. */
export function integerValue(value: bigint): number | string {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : String(value);
}

/** A double as JSON: text when it is not finite. */
export function doubleValue(value: number): number | string {
  return Number.isFinite(value) ? value : String(value);
}

export function microsOf(nanos: bigint): Micros {
  return Number(nanos / 1000n);
}
