import { type ApiError, invalidField } from "../lib/api-error.ts";
import { isTooDeep, MAX_JSON_DEPTH } from "../lib/json.ts";
import { messageOf } from "../lib/error-text.ts";

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
    const message = messageOf(error);
    throw invalidJson(positionIn(message, text), message);
  }
  if (isTooDeep(value, text)) {
    throw invalidJson([], `nested deeper than ${MAX_JSON_DEPTH} levels`);
  }
  return value;
}

function positionIn(message: string, text: string): number[] {
  const position = /position (\d+)/.exec(message)?.[1];
  if (position !== undefined) return [Number(position)];
  return message.includes("end of JSON input") ? [text.length] : [];
}

function invalidJson(position: number[], reason: string): ApiError {
  return invalidField(["body", ...position], `JSON decode error: ${reason}`, "json_invalid");
}
