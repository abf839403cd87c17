import { firstIntegerBeyond64Bits } from "../../model/json-text.ts";

/** A parsed document and its source text, which keeps numbers exact that a double cannot hold. */
export type JsonValue = { value: unknown; text: string };

export class InvalidJson extends Error {
  override readonly name = "InvalidJson";
}

/** Maximum depth of a value: code that reads it later is recursive. */
const MAX_JSON_DEPTH = 500;

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });

/** Parses and checks one JSON document. Throws InvalidJson, whose message says what is wrong. */
export function parseJsonValue(bytes: Uint8Array): JsonValue {
  const json = parseUnchecked(bytes);
  checkJson(json.value, json.text);
  return json;
}

/** Throws InvalidJson only for bytes that are not JSON; `checkJson` has to follow, on all of it or on parts. */
export function parseUnchecked(bytes: Uint8Array): JsonValue {
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    throw new InvalidJson("is not UTF-8");
  }
  try {
    return { value: JSON.parse(text), text };
  } catch (error) {
    throw new InvalidJson(`is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Throws InvalidJson for a value that is nested too deeply or has an integer beyond 64 bits. */
export function checkJson(value: unknown, text: string): void {
  // Each level takes two characters, so a short text cannot be nested too deeply.
  if (text.length > 2 * MAX_JSON_DEPTH && isDeeperThan(value, MAX_JSON_DEPTH)) {
    throw new InvalidJson(`is nested deeper than ${MAX_JSON_DEPTH} levels`);
  }
  const integer = firstIntegerBeyond64Bits(text);
  if (integer !== null) {
    const head = integer.length > 40 ? `${integer.slice(0, 40)}...` : integer;
    throw new InvalidJson(`has the integer ${head}, which is outside of 64 bits`);
  }
}

function isDeeperThan(value: unknown, maxDepth: number): boolean {
  const open: { children: readonly unknown[]; next: number }[] = [];
  const root = childrenOf(value);
  if (root !== null) open.push({ children: root, next: 0 });
  for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
    if (open.length > maxDepth) return true;
    let children: readonly unknown[] | null = null;
    while (children === null && top.next < top.children.length) {
      children = childrenOf(top.children[top.next]);
      top.next += 1;
    }
    if (children === null) open.pop();
    else open.push({ children, next: 0 });
  }
  return false;
}

function childrenOf(value: unknown): readonly unknown[] | null {
  if (typeof value !== "object" || value === null) return null;
  return Array.isArray(value) ? value : Object.values(value);
}
