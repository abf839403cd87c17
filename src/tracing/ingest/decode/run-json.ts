import type { RunWrite } from "../../model/run-write.ts";
import { scanMembers, skipValue } from "../../model/json-text.ts";
import type { JsonValue } from "./json-value.ts";
import { type ReadRunOptions, readRun } from "./run-body.ts";
import { isPayloadField, type SourceTexts } from "./run-payloads.ts";

/** Like `readRun`, of a whole JSON document; payloads keep the text that they have in it. */
export function readRunJson(
  kind: RunWrite["kind"],
  { value, text }: JsonValue,
  options: Omit<ReadRunOptions, "texts">,
): RunWrite {
  const hasPayload =
    typeof value === "object" && value !== null && Object.keys(value).some(isPayloadField);
  const texts =
    hasPayload && !Array.isArray(value) ? payloadTexts(text, text.indexOf("{")).texts : {};
  return readRun(kind, value, { ...options, texts });
}

/** The texts of the payloads in the object at `start`, and where it ends. */
export function payloadTexts(text: string, start: number): { texts: SourceTexts; end: number } {
  const texts: SourceTexts = {};
  const end = scanMembers(text, start, (key, valueStart) => {
    const valueEnd = skipValue(text, valueStart);
    // Of a repeated key the last one counts, as it does for the parser.
    if (isPayloadField(key)) texts[key] = text.slice(valueStart, valueEnd);
    return valueEnd;
  });
  return { texts, end };
}
