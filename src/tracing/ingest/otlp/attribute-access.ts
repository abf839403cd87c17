import { checkJson, InvalidJson } from "../decode/json-value.ts";
import type { Attributes, AttributeValue } from "./span.ts";

export type JsonObject = Record<string, unknown>;

/** A text that is not empty. */
export function textOf(attributes: Attributes, key: string): string | undefined {
  const value = attributes.get(key);
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** The text of the first of the keys that has one. */
export function firstText(attributes: Attributes, keys: readonly string[]): string | undefined {
  for (const key of keys) {
    const text = textOf(attributes, key);
    if (text !== undefined) return text;
  }
  return undefined;
}

/** A value that says something: neither null nor an empty text. */
export function given(attributes: Attributes, key: string): AttributeValue | undefined {
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
  return typeof structure === "object" && structure !== null && !Array.isArray(structure)
    ? structure
    : { [key]: structure };
}
