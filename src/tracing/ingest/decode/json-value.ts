import { isTooDeep, MAX_JSON_DEPTH } from "../../../lib/json.ts";
import { firstIntegerBeyond64Bits } from "../../model/json-text.ts";
import { messageOf } from "../../../lib/error-text.ts";

/** A parsed document and its source text, which keeps numbers exact that a double cannot hold. */
export type JsonValue = { value: unknown; text: string };

export class InvalidJson extends Error {
  override readonly name = "InvalidJson";
}

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
    throw new InvalidJson(`is not JSON: ${messageOf(error)}`);
  }
}

/** Throws InvalidJson for a value that is nested too deeply or has an integer beyond 64 bits. */
export function checkJson(value: unknown, text: string): void {
  if (isTooDeep(value, text)) {
    throw new InvalidJson(`is nested deeper than ${MAX_JSON_DEPTH} levels`);
  }
  const integer = firstIntegerBeyond64Bits(text);
  if (integer !== null) {
    const head = integer.length > 40 ? `${integer.slice(0, 40)}...` : integer;
    throw new InvalidJson(`has the integer ${head}, which is outside of 64 bits`);
  }
}
