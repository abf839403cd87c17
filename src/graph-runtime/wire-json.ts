import { isBaseMessage } from "@langchain/core/messages";

/** Deeper values are refused rather than overflowing the stack of whoever reads them. */
const MAX_DEPTH = 1000;

/** A value a graph produced that JSON cannot carry; the message names where it is. */
export class UnserialisableValueError extends Error {
  override readonly name = "UnserialisableValueError";
}

/**
 * JSON text of anything a graph emits, in the API's form: messages flat (`{...fields, type}`) rather
 * than LangChain's constructor records, dates as ISO strings, Maps as objects, Sets as arrays, errors
 * as `{name, message}`. Functions and undefined are left out as JSON does; a BigInt, a cycle or a
 * nesting beyond MAX_DEPTH throws UnserialisableValueError.
 */
export function toWireJson(value: unknown): string {
  return JSON.stringify(toWire(value)) ?? "null";
}

export function toWire(value: unknown): unknown {
  return convert(value, "", new Set(), 0);
}

function convert(value: unknown, path: string, ancestors: Set<object>, depth: number): unknown {
  if (value === null) return null;
  if (typeof value !== "object") {
    if (typeof value === "bigint") throw fail("a BigInt", path);
    return typeof value === "function" || typeof value === "symbol" ? undefined : value;
  }
  if (ancestors.has(value)) throw fail("a circular reference", path);
  if (depth > MAX_DEPTH) throw fail(`a value nested deeper than ${MAX_DEPTH}`, path.slice(0, 200));
  ancestors.add(value);
  const result = convertObject(value, path, ancestors, depth + 1);
  ancestors.delete(value);
  return result;
}

function convertObject(
  value: object,
  path: string,
  ancestors: Set<object>,
  depth: number,
): unknown {
  if (Array.isArray(value)) {
    return value.map((item, index) => convert(item, `${path}[${index}]`, ancestors, depth) ?? null);
  }
  if (isBaseMessage(value)) return convertRecord(flatMessage(value), path, ancestors, depth);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (value instanceof Map) {
    return convertRecord(Object.fromEntries(value), path, ancestors, depth);
  }
  if (value instanceof Set) {
    return [...value].map((item, index) => convert(item, `${path}[${index}]`, ancestors, depth));
  }
  if (value instanceof Error) return { name: value.name, message: value.message };
  if (ArrayBuffer.isView(value)) {
    return [...new Uint8Array(value.buffer, value.byteOffset, value.byteLength)];
  }
  if ("toJSON" in value && typeof value.toJSON === "function") {
    return convert(value.toJSON(), path, ancestors, depth);
  }
  return convertRecord(value, path, ancestors, depth);
}

function convertRecord(
  value: object,
  path: string,
  ancestors: Set<object>,
  depth: number,
): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) {
    const converted = convert(item, path === "" ? key : `${path}.${key}`, ancestors, depth);
    if (converted === undefined) continue;
    // Plain assignment of "__proto__" would set the prototype and lose the value.
    if (key === "__proto__") {
      Object.defineProperty(result, key, { value: converted, enumerable: true });
    } else result[key] = converted;
  }
  return result;
}

/** The fields LangChain's `toDict()` gives, without building its intermediate constructor record. */
const MESSAGE_FIELDS = [
  "content",
  "additional_kwargs",
  "response_metadata",
  "id",
  "name",
  "tool_calls",
  "invalid_tool_calls",
  "tool_call_chunks",
  "usage_metadata",
  "tool_call_id",
  "status",
  "artifact",
  "role",
] as const;

function flatMessage(message: object): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  for (const field of MESSAGE_FIELDS) {
    const value: unknown = Reflect.get(message, field);
    if (value !== undefined) fields[field] = value;
  }
  fields["type"] = Reflect.get(message, "type") ?? oldType(message);
  return fields;
}

/** Messages of LangChain 0.x tell their type by a method only. */
function oldType(message: object): unknown {
  const getType: unknown = Reflect.get(message, "_getType");
  return typeof getType === "function" ? getType.call(message) : undefined;
}

function fail(what: string, path: string): UnserialisableValueError {
  return new UnserialisableValueError(
    `The value at "${path === "" ? "(root)" : path}" cannot be serialised: it is ${what}.`,
  );
}
