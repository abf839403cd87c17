import {
  type Payload,
  PAYLOAD_FIELDS,
  type PayloadFacts,
  type PayloadField,
} from "../../model/run-write.ts";
import { factsOf } from "./payload-facts.ts";
import type { RunFields } from "./run-fields.ts";
import { InvalidRun } from "./invalid-run.ts";

/** `extra` is merged in memory by the store, again with each update. */
const MAX_EXTRA_BYTES = 1024 * 1024;

export type RunPayloads = {
  payloads: Partial<Record<PayloadField, Payload>>;
  facts: PayloadFacts;
};

/** The texts of fields as they came; of a field that has none it is written anew. */
export type SourceTexts = Partial<Record<PayloadField, string>>;

export function isPayloadField(field: string): field is PayloadField {
  return PAYLOAD_FIELDS.some((each) => each === field);
}

export function readPayloads(fields: RunFields, texts: SourceTexts): RunPayloads {
  const read: RunPayloads = { payloads: {}, facts: {} };
  for (const field of PAYLOAD_FIELDS) {
    const value = fields.value(field);
    if (value === undefined) continue;
    addPayload(read, fields.runId, field, value, texts[field] ?? JSON.stringify(value));
  }
  return read;
}

/** Checks one field and adds it, replacing what was there; null is as good as absent. */
export function addPayload(
  { payloads, facts }: RunPayloads,
  runId: string | undefined,
  field: PayloadField,
  value: unknown,
  text: string,
): void {
  if (value === null) return;
  if (field === "extra") checkExtra(runId, value, text);
  if (field === "events" && typeof value !== "object") {
    throw new InvalidRun(runId, field, "should be a list");
  }
  const isOtherError = field === "error" && typeof value !== "string";
  payloads[field] = { json: isOtherError ? JSON.stringify(text) : text };
  Object.assign(facts, factsOf(field, value));
}

function checkExtra(runId: string | undefined, value: unknown, text: string): void {
  if (typeof value !== "object" || Array.isArray(value)) {
    throw new InvalidRun(runId, "extra", "should be an object");
  }
  // A UTF-16 unit takes three bytes at most.
  const isSmall = text.length * 3 <= MAX_EXTRA_BYTES;
  if (!isSmall && Buffer.byteLength(text) > MAX_EXTRA_BYTES) {
    throw new InvalidRun(runId, "extra", `should be no larger than ${MAX_EXTRA_BYTES} bytes`);
  }
}
