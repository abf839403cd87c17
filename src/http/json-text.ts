import { type ApiError, invalidField } from "../lib/api-error.ts";

/** Maximum depth. Deeper bodies are refused, because serialisers and the database recurse. */
const MAX_JSON_DEPTH = 500;

/** Parses JSON. Throws a "validation" error when the bytes are not JSON text, or nest too deeply. */
export function parseJson(bytes: Uint8Array): unknown {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes);
  } catch {
    throw invalidJson([], "not UTF-8");
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw invalidJson(positionIn(message, text), message);
  }
  // Each level of nesting takes two characters.
  if (text.length > 2 * MAX_JSON_DEPTH && isDeeperThan(value, MAX_JSON_DEPTH)) {
    throw invalidJson([], `nested deeper than ${MAX_JSON_DEPTH} levels`);
  }
  return value;
}

function positionIn(message: string, text: string): number[] {
  const position = /position (\d+)/.exec(message)?.[1];
  if (position !== undefined) return [Number(position)];
  return message.includes("end of JSON input") ? [text.length] : [];
}

function isDeeperThan(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (depth === 0) return true;
  for (const child of Array.isArray(value) ? value : Object.values(value)) {
    if (isDeeperThan(child, depth - 1)) return true;
  }
  return false;
}

function invalidJson(position: number[], reason: string): ApiError {
  return invalidField(["body", ...position], `JSON decode error: ${reason}`, "json_invalid");
}
