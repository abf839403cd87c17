import { isObject, type JsonObject } from "../../../lib/json.ts";
import type { Micros } from "../../../lib/time.ts";
import { checkJson, InvalidJson } from "../decode/json-value.ts";

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

/** A text that is not empty. */
export function textAttribute(attributes: Attributes, key: string): string | undefined {
  const value = attributes.get(key);
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** The text of the first of the keys that has one. */
export function firstText(attributes: Attributes, keys: readonly string[]): string | undefined {
  for (const key of keys) {
    const text = textAttribute(attributes, key);
    if (text !== undefined) return text;
  }
  return undefined;
}

/** A value that says something: neither null nor an empty text. */
export function givenAttribute(attributes: Attributes, key: string): AttributeValue | undefined {
  const value = attributes.get(key);
  return value === null || value === "" ? undefined : value;
}

/** An object or a list, or the one that a text is the JSON of; undefined for anything else. */
export function structureOf(value: unknown): JsonObject | unknown[] | undefined {
  if (typeof value === "object" && value !== null) return value as JsonObject | unknown[];
  if (typeof value !== "string" || !/^\s*[[{]/.test(value)) return undefined;
  try {
    const parsed = JSON.parse(value) as JsonObject | unknown[];
    checkJson(parsed, value);
    return parsed;
  } catch (error) {
    // A text that only looks like JSON, or one that could not be written again, stays a text.
    if (error instanceof SyntaxError || error instanceof InvalidJson) return undefined;
    throw error;
  }
}

export function objectOf(value: unknown): JsonObject | undefined {
  const structure = structureOf(value);
  return structure === undefined || Array.isArray(structure) ? undefined : structure;
}

export function listOf(value: unknown): unknown[] | undefined {
  const structure = structureOf(value);
  return Array.isArray(structure) ? structure : undefined;
}

/** An object as it is; a list, or what is no JSON, under `key`. */
export function payloadOf(value: AttributeValue, key: "input" | "output"): JsonObject {
  const structure = structureOf(value) ?? value;
  return isObject(structure) ? structure : { [key]: structure };
}
