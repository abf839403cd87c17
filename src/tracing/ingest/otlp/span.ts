import { isObject, type JsonObject } from "../../../lib/json.ts";
import type { Micros } from "../../../lib/time.ts";
import { checkJson, InvalidJson } from "../decode/json-value.ts";

/**
 * The value of an attribute as JSON. A value that JSON cannot hold has the form of protobuf's JSON mapping:
 * bytes are base64, integers beyond 2^53 are decimal text, and numbers that are not finite are "NaN",
 * "Infinity" and "-Infinity".
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

/** The resource and scope that several spans share. */
export type SpanSource = {
  resource: Attributes;
  scopeName: string;
  scopeVersion: string;
  scopeAttributes: Attributes;
};

/** A span as it was sent. Its values are not checked, except that they could be read. */
export type Span = {
  source: SpanSource;
  /** Ids are lower-case hexadecimal of any length; "" if missing. */
  traceId: string;
  spanId: string;
  parentSpanId: string;
  name: string;
  /** Nanoseconds are cut off. 0 if missing. */
  startTime: Micros;
  endTime: Micros;
  attributes: Attributes;
  /** Number of attributes that the client left out. */
  droppedAttributes: number;
  events: SpanEvent[];
  isError: boolean;
  statusMessage: string;
};

/** Returns an integer as JSON: decimal text if a double cannot hold it exactly. */
export function integerValue(value: bigint): number | string {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : String(value);
}

/** Returns a double as JSON: text if it is not finite. */
export function doubleValue(value: number): number | string {
  return Number.isFinite(value) ? value : String(value);
}

export function microsOf(nanos: bigint): Micros {
  return Number(nanos / 1000n);
}

/** Returns a text that is not empty. */
export function textAttribute(attributes: Attributes, key: string): string | undefined {
  const value = attributes.get(key);
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Returns the text of the first of the keys that has one. */
export function firstText(attributes: Attributes, keys: readonly string[]): string | undefined {
  for (const key of keys) {
    const text = textAttribute(attributes, key);
    if (text !== undefined) return text;
  }
  return undefined;
}

/** Returns a value that is neither null nor an empty text. */
export function givenAttribute(attributes: Attributes, key: string): AttributeValue | undefined {
  const value = attributes.get(key);
  return value === null || value === "" ? undefined : value;
}

/** Returns an object or a list, parsed if it is given as JSON text; undefined for anything else. */
export function structureOf(value: unknown): JsonObject | unknown[] | undefined {
  if (typeof value === "object" && value !== null) return value as JsonObject | unknown[];
  if (typeof value !== "string" || !/^\s*[[{]/.test(value)) return undefined;
  try {
    const parsed = JSON.parse(value) as JsonObject | unknown[];
    checkJson(parsed, value);
    return parsed;
  } catch (error) {
    // A text that only looks like JSON, or that could not be written again, remains a text.
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

/** Returns an object unchanged; a list, or a text that is not JSON, is put under `key`. */
export function payloadOf(value: AttributeValue, key: "input" | "output"): JsonObject {
  const structure = structureOf(value) ?? value;
  return isObject(structure) ? structure : { [key]: structure };
}
