import type { JsonObject } from "../../../lib/json.ts";
import type { RunType } from "../../model/run-write.ts";
import {
  type Attributes,
  givenAttribute,
  listOf,
  objectOf,
  payloadOf,
  type Span,
  type SpanEvent,
} from "./span.ts";
import { indexedMessages, messagesOfParts, payloadsOfEvents, systemMessages } from "./messages.ts";
import { indexedItems } from "./nested-attributes.ts";
import { base64Decode } from "@bufbuild/protobuf/wire";

const INPUT_KEYS = [
  "input.value",
  "traceloop.entity.input",
  "gen_ai.prompt",
  "prompt",
  "gen_ai.tool.call.arguments",
];

const OUTPUT_KEYS = [
  "output.value",
  "traceloop.entity.output",
  "gen_ai.completion",
  "all_messages_events",
  "gen_ai.tool.call.result",
];

/** The event whose attributes hold messages, under the same keys as those of a span. */
const DETAILS_EVENT = "gen_ai.client.inference.operation.details";

export type SpanPayloads = {
  inputs: JsonObject | undefined;
  outputs: JsonObject | undefined;
  /** The span's events that inputs and outputs already represent. */
  usedEvents: ReadonlySet<SpanEvent>;
};

/** Returns the inputs and outputs of a span, in whichever convention it follows. */
export function spanPayloads({ attributes, events }: Span, runType: RunType): SpanPayloads {
  const ofEvents = payloadsOfEvents(events);
  const details = events.find(({ name }) => name === DETAILS_EVENT);
  const inputs =
    (runType === "retriever" ? queryOf(attributes) : variableOf(attributes)) ??
    ofEvents.inputs ??
    inputMessages(attributes, details?.attributes) ??
    firstPayload(attributes, INPUT_KEYS, "input") ??
    payloadsOfLogfire(attributes).inputs ??
    objectOf(attributes.get("llm.prompt_template.variables"));
  const outputs =
    (runType === "retriever" ? retrievedDocuments(attributes) : undefined) ??
    ofEvents.outputs ??
    outputMessages(attributes, details?.attributes) ??
    firstPayload(attributes, OUTPUT_KEYS, "output") ??
    payloadsOfLogfire(attributes).outputs;
  const usedEvents = details === undefined ? ofEvents.used : new Set([...ofEvents.used, details]);
  return { inputs, outputs, usedEvents };
}

function queryOf(attributes: Attributes): JsonObject | undefined {
  const value = givenAttribute(attributes, "input.value");
  if (value === undefined) return undefined;
  return objectOf(value) ?? { query: value };
}

/** Returns a text that was put into a prompt template, under the name of its variable. */
function variableOf(attributes: Attributes): JsonObject | undefined {
  const value = givenAttribute(attributes, "input.value");
  if (value === undefined) return undefined;
  const variables = objectOf(attributes.get("llm.prompt_template.variables")) ?? {};
  const found = Object.entries(variables).find(([, each]) => each === value);
  return found === undefined ? undefined : { [found[0]]: value };
}

function inputMessages(
  attributes: Attributes,
  details: Attributes | undefined,
): JsonObject | undefined {
  const indexed =
    indexedMessages(attributes, "gen_ai.prompt") ??
    indexedMessages(attributes, "llm.input_messages");
  if (indexed !== undefined) return { messages: indexed };
  for (const each of [attributes, details]) {
    const messages = messagesOfParts(each?.get("gen_ai.input.messages"));
    const system = systemMessages(each?.get("gen_ai.system_instructions"));
    if (messages !== undefined || system.length > 0) {
      return { messages: [...system, ...(messages ?? [])] };
    }
  }
  return undefined;
}

function outputMessages(
  attributes: Attributes,
  details: Attributes | undefined,
): JsonObject | undefined {
  const messages =
    indexedMessages(attributes, "gen_ai.completion") ??
    indexedMessages(attributes, "llm.output_messages") ??
    messagesOfParts(attributes.get("gen_ai.output.messages")) ??
    messagesOfParts(details?.get("gen_ai.output.messages"));
  return messages === undefined ? undefined : { messages };
}

function firstPayload(
  attributes: Attributes,
  keys: readonly string[],
  name: "input" | "output",
): JsonObject | undefined {
  for (const key of keys) {
    const value = givenAttribute(attributes, key);
    if (value !== undefined) return payloadOf(value, name);
  }
  return undefined;
}

/** Returns the documents that an OpenInference retriever returned; undefined if there are none. */
function retrievedDocuments(attributes: Attributes): JsonObject | undefined {
  const documents: JsonObject[] = [];
  for (const item of indexedItems(attributes, "retrieval.documents")) {
    const { content, metadata, id, score } = objectOf(item) ?? {};
    if (content === undefined) continue;
    documents.push({
      page_content: content,
      metadata: { ...(score !== undefined && { score }), ...objectOf(metadata) },
      type: "Document",
      ...(id !== undefined && { id }),
    });
  }
  return documents.length === 0 ? undefined : { documents };
}

/**
 * Returns the inputs and outputs in Logfire's `events` attribute, a list of
 * `{"event.name", role, content, ...}`: the last choice is the output, and the rest went to the model.
 */
function payloadsOfLogfire(attributes: Attributes): {
  inputs: JsonObject | undefined;
  outputs: JsonObject | undefined;
} {
  const messages: JsonObject[] = [];
  let outputs: JsonObject | undefined;
  for (const item of listOf(attributes.get("events")) ?? []) {
    const event = objectOf(item);
    if (event === undefined) continue;
    const { "event.name": name, ...message } = event;
    if (name === "gen_ai.choice") outputs = message;
    else messages.push(message);
  }
  return { inputs: messages.length === 0 ? undefined : { messages }, outputs };
}

export type SpanAttachment = { name: string; mimeType: string; bytes: Uint8Array };

const ATTRIBUTE = "langsmith.attachments";

/**
 * Returns the attachments in `langsmith.attachments`, a JSON list of `{name, content, mime_type}` with the
 * content in base64. `problems` says what is wrong with each invalid one.
 */
export function attachmentsOf(attributes: Attributes): {
  attachments: SpanAttachment[];
  problems: string[];
} {
  const attachments: SpanAttachment[] = [];
  const problems: string[] = [];
  const value = givenAttribute(attributes, ATTRIBUTE);
  if (value === undefined) return { attachments, problems };
  const items = listOf(value);
  if (items === undefined) problems.push(`${ATTRIBUTE} should be a list as JSON`);
  for (const [index, item] of (items ?? []).entries()) {
    const attachment = attachmentOf(objectOf(item) ?? {});
    if (typeof attachment === "string") problems.push(`${ATTRIBUTE}[${index}].${attachment}`);
    else attachments.push(attachment);
  }
  return { attachments, problems };
}

function attachmentOf(item: Record<string, unknown>): SpanAttachment | string {
  const { name, content, mime_type: mimeType = "application/octet-stream" } = item;
  if (typeof name !== "string" || name === "") return "name should be a text";
  if (typeof mimeType !== "string") return "mime_type should be a text";
  if (typeof content !== "string") return "content should be a text in base64";
  try {
    return { name, mimeType, bytes: base64Decode(content) };
  } catch {
    return "content should be base64";
  }
}
