import { isBaseMessage } from "@langchain/core/messages";

/** Deeper values are refused, because they would overflow the stack of their readers. */
const MAX_DEPTH = 1000;

/** Thrown for a value of a graph that JSON cannot carry; the message names its path. */
export class UnserialisableValueError extends Error {
  override readonly name = "UnserialisableValueError";
}

/**
 * Returns the JSON text of any value that a graph emits, in the API's form: messages flat (`{...fields,
 * type}`) rather than LangChain's constructor records, dates as ISO strings, Maps as objects, Sets as arrays,
 * errors as `{name, message}`. Functions and undefined are left out, as in JSON. Throws an
 * UnserialisableValueError for a BigInt, a cycle, or nesting deeper than MAX_DEPTH.
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

/**
 * The fields that LangChain's `toDict()` returns; reading them directly avoids its intermediate constructor
 * record.
 */
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

/** Returns the type of a message of LangChain 0.x, which is available only through a method. */
function oldType(message: object): unknown {
  const getType: unknown = Reflect.get(message, "_getType");
  return typeof getType === "function" ? getType.call(message) : undefined;
}

function fail(what: string, path: string): UnserialisableValueError {
  return new UnserialisableValueError(
    `The value at "${path === "" ? "(root)" : path}" cannot be serialised: it is ${what}.`,
  );
}
