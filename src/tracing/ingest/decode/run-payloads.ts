import {
  type Payload,
  PAYLOAD_FIELDS,
  type PayloadFacts,
  type PayloadField,
} from "../../model/run-write.ts";
import type { RunFields } from "./run-fields.ts";
import { InvalidRun } from "./invalid-run.ts";
import { usageOf } from "../../usage/reported-usage.ts";
import { clipText, leavesOf } from "../../model/text-leaves.ts";
import { type Micros, parseTime } from "../../../lib/time.ts";
import { isObject, memberOf } from "../../../lib/json.ts";

/** Maximum bytes of `extra`, which the store merges in memory with each update. */
const MAX_EXTRA_BYTES = 1024 * 1024;

type RunPayloads = {
  payloads: Partial<Record<PayloadField, Payload>>;
  facts: PayloadFacts;
};

/** The original texts of fields. A field without one is serialized again. */
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

/** Checks one field and adds it, replacing an earlier value; null is equivalent to absent. */
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
  // A UTF-16 code unit takes at most three bytes in UTF-8.
  const isSmall = text.length * 3 <= MAX_EXTRA_BYTES;
  if (!isSmall && Buffer.byteLength(text) > MAX_EXTRA_BYTES) {
    throw new InvalidRun(runId, "extra", `should be no larger than ${MAX_EXTRA_BYTES} bytes`);
  }
}

const MAX_PREVIEW_CHARS = 300;

/** Maximum number of nested wrappers, such as the `output` of `{output: {messages: [...]}}`, to look into. */
const MAX_WRAPPERS = 6;

/** Returns what has to be known of a payload once its text is in the store. */
export function factsOf(field: PayloadField, value: unknown): PayloadFacts {
  switch (field) {
    case "inputs":
      return { inputsPreview: previewOf(value), inputLeaves: JSON.stringify(leavesOf(value)) };
    case "outputs":
      return {
        outputsPreview: previewOf(value),
        outputLeaves: JSON.stringify(leavesOf(value)),
        usage: usageOf(value),
      };
    case "events":
      return { firstTokenTime: firstTokenTime(value) };
    case "extra":
    case "serialized":
    case "error":
      return {};
  }
}

/** Returns the time of the first event named `new_token`; null if there is none, or its time is invalid. */
export function firstTokenTime(events: unknown): Micros | null {
  if (!Array.isArray(events)) return null;
  const first: unknown = events.find((event) => memberOf(event, "name") === "new_token");
  return parseTime(memberOf(first, "time"));
}

/**
 * Returns what a person would want to see of inputs or outputs, up to 300 characters: the text of the last
 * message, that of the first generation or choice, a lone text, and otherwise the compact JSON. Null for
 * null.
 */
export function previewOf(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  return clipText(
    textOf(value, MAX_WRAPPERS) ?? compactJson(value, MAX_PREVIEW_CHARS),
    MAX_PREVIEW_CHARS,
  );
}

/** Returns the main text of a value; null if it cannot be determined. */
function textOf(value: unknown, wrappers: number): string | null {
  if (typeof value === "string") return value;
  if (!isObject(value) || wrappers === 0) return null;
  const { messages, generations, choices } = value;
  if (Array.isArray(messages)) return lastMessageText(messages);
  if (Array.isArray(generations)) return candidateText(firstOf(generations));
  if (Array.isArray(choices)) return candidateText(firstOf(choices));
  const own = messageText(value);
  if (own !== null) return own;
  const keys = Object.keys(value);
  const [key] = keys;
  return keys.length === 1 && key !== undefined ? textOf(value[key], wrappers - 1) : null;
}

/** Returns the text of the last message, or its JSON if it has no text, as for a tool call. */
function lastMessageText(messages: readonly unknown[]): string | null {
  const last = lastOf(messages);
  return messageText(last) ?? (isObject(last) ? compactJson(last, MAX_PREVIEW_CHARS) : null);
}

/** Accepts a message as the chat APIs write it, as `[role, text]`, or in LangChain's serialised forms. */
function messageText(message: unknown): string | null {
  if (typeof message === "string") return message;
  if (Array.isArray(message)) {
    const [role, content] = message as unknown[];
    return message.length === 2 && typeof role === "string" ? contentText(content) : null;
  }
  if (!isObject(message)) return null;
  const { content, kwargs, data } = message;
  for (const each of [content, memberOf(kwargs, "content"), memberOf(data, "content")]) {
    const text = contentText(each);
    if (text !== null) return text;
  }
  return null;
}

/** Returns the text of an item of `generations` or `choices`. */
function candidateText(candidate: unknown): string | null {
  if (!isObject(candidate)) return null;
  const { text, message, delta } = candidate;
  if (typeof text === "string" && text !== "") return text;
  return messageText(message) ?? messageText(delta);
}

/** Returns a text, or the text blocks of a list of blocks; null for "", which comes with tool calls. */
function contentText(content: unknown): string | null {
  if (typeof content === "string") return content === "" ? null : content;
  if (!Array.isArray(content)) return null;
  const texts: string[] = [];
  let chars = 0;
  for (const block of content as unknown[]) {
    const text = typeof block === "string" ? block : memberOf(block, "text");
    if (typeof text !== "string" || text === "") continue;
    texts.push(text);
    chars += text.length;
    if (chars >= MAX_PREVIEW_CHARS) break;
  }
  return texts.length === 0 ? null : texts.join("\n");
}

/** Returns the last item. Batches nest their messages and generations in one more list. */
function lastOf(list: readonly unknown[]): unknown {
  const last = list.at(-1);
  return Array.isArray(last) && typeof last[0] === "object" ? last.at(-1) : last;
}

function firstOf(list: readonly unknown[]): unknown {
  const [first] = list;
  return Array.isArray(first) ? first[0] : first;
}

/** Returns JSON text up to about `budget` characters. Each level costs one, so it never recurses deeper. */
function compactJson(value: unknown, budget: number): string {
  if (typeof value === "string") return JSON.stringify(clipText(value, budget));
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const keys = Array.isArray(value) ? null : Object.keys(value);
  const children: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
  let text = keys === null ? "[" : "{";
  for (const [index, child] of children.entries()) {
    if (text.length >= budget) return text;
    if (index > 0) text += ",";
    const key = keys?.[index];
    if (key !== undefined) text += `${JSON.stringify(clipText(key, budget))}:`;
    text += compactJson(child, Math.max(0, budget - text.length));
  }
  return text + (keys === null ? "]" : "}");
}
