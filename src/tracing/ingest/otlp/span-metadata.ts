import type { JsonObject } from "../../../lib/json.ts";
import {
  type Attributes,
  type AttributeValue,
  firstText,
  objectOf,
  type Span,
  type SpanSource,
} from "./span.ts";
import { modelNameOf } from "./model-call.ts";
import { isContainer } from "./span-run-type.ts";

const PROVIDER_KEYS = ["gen_ai.system", "gen_ai.provider.name", "llm.system", "llm.provider"];

/** Prefixes of metadata keys, those with lower precedence first. */
const METADATA_PREFIXES = ["traceloop.association.properties.", "langsmith.metadata."];

/** Attributes that appear elsewhere in the run, and so are not repeated in its metadata. */
const MAPPED_PREFIXES = [
  ...METADATA_PREFIXES,
  "langsmith.",
  "gen_ai.prompt.",
  "gen_ai.completion.",
  "gen_ai.request.",
  "llm.input_messages.",
  "llm.output_messages.",
  "llm.token_count.",
  "llm.tools.",
  "retrieval.documents.",
];

const MAPPED_KEYS = new Set([
  ...PROVIDER_KEYS,
  "gen_ai.operation.name",
  "gen_ai.response.model",
  "gen_ai.tool.name",
  "gen_ai.prompt",
  "gen_ai.completion",
  "gen_ai.input.messages",
  "gen_ai.output.messages",
  "gen_ai.system_instructions",
  "gen_ai.tool.definitions",
  "gen_ai.tool.call.arguments",
  "gen_ai.tool.call.result",
  "llm.model_name",
  "llm.request.type",
  "llm.request.functions",
  "llm.invocation_parameters",
  "llm.presence_penalty",
  "llm.frequency_penalty",
  "llm.prompt_template.variables",
  "llm.usage.total_tokens",
  "traceloop.llm.request.type",
  "traceloop.span.kind",
  "traceloop.entity.name",
  "traceloop.entity.input",
  "traceloop.entity.output",
  "openinference.span.kind",
  "embedding.model_name",
  "embedding.invocation_parameters",
  "input.value",
  "output.value",
  "metadata",
  "model",
  "tools",
  "tool_arguments",
  "tag.tags",
  "prompt",
  "events",
  "all_messages_events",
]);

const USAGE_PREFIX = "gen_ai.usage.";

/** Metadata is indexed, and merged in memory: attributes that no convention puts there are kept small. */
const MAX_VALUE_CHARS = 4096;
const MAX_TOTAL_CHARS = 32 * 1024;

/** The key that exporters to other formats use for the number of missing attributes. */
const DROPPED_COUNT = "otel.dropped_attributes_count";

type Entry = [key: string, AttributeValue];

type BoundedEntries = { entries: Entry[]; chars: number; dropped: number };

const sourceEntries = new WeakMap<SpanSource, BoundedEntries>();

/**
 * Returns the `extra.metadata` of a run: what the conventions define as metadata, and the attributes of the
 * span, its scope and its resource that appear nowhere else in the run.
 */
export function spanMetadata(span: Span, usage: JsonObject | undefined): JsonObject {
  const { attributes, source, traceId, spanId } = span;
  const ofSource = entriesOfSource(source);
  const hasOwnUsage = !isContainer(attributes);
  const own = bounded(
    [...attributes].filter(
      ([key]) => !isMapped(key) && !(hasOwnUsage && key.startsWith(USAGE_PREFIX)),
    ),
  );
  const metadata = new Map<string, unknown>([...ofSource.entries, ...own.entries]);
  const dropped = span.droppedAttributes + ofSource.dropped + own.dropped;
  if (dropped > 0) metadata.set(DROPPED_COUNT, dropped);
  const provider = firstText(attributes, PROVIDER_KEYS);
  if (provider !== undefined) metadata.set("ls_provider", provider);
  const model = modelNameOf(attributes);
  if (model !== undefined) metadata.set("ls_model_name", model);
  for (const prefix of METADATA_PREFIXES) {
    for (const [key, value] of attributes) {
      if (key.startsWith(prefix) && value !== null) metadata.set(key.slice(prefix.length), value);
    }
  }
  for (const [key, value] of Object.entries(objectOf(attributes.get("metadata")) ?? {})) {
    metadata.set(key, value);
  }
  if (usage !== undefined) metadata.set("usage_metadata", usage);
  // These are set last, so that nothing replaces them: they tell where the children of this span belong.
  metadata.set("OTEL_TRACE_ID", traceId);
  metadata.set("OTEL_SPAN_ID", spanId);
  return Object.fromEntries(metadata);
}

/** Returns how many characters of metadata each of the spans of a source gets from it. */
export function sourceMetadataChars(source: SpanSource): number {
  return entriesOfSource(source).chars;
}

function entriesOfSource(source: SpanSource): BoundedEntries {
  let entries = sourceEntries.get(source);
  if (entries === undefined) {
    const { resource, scopeName, scopeVersion, scopeAttributes } = source;
    entries = bounded([
      ...withoutOwn(resource),
      ...withoutOwn(scopeAttributes),
      ...(scopeName === "" ? [] : [["otel.scope.name", scopeName] as Entry]),
      ...(scopeVersion === "" ? [] : [["otel.scope.version", scopeVersion] as Entry]),
    ]);
    sourceEntries.set(source, entries);
  }
  return entries;
}

/** Leaves out the attributes with which LangSmith's SDKs mark their own resource. */
function withoutOwn(attributes: Attributes): Entry[] {
  return [...attributes].filter(([key]) => !key.startsWith("langsmith."));
}

function isMapped(key: string): boolean {
  return MAPPED_KEYS.has(key) || MAPPED_PREFIXES.some((prefix) => key.startsWith(prefix));
}

function bounded(all: readonly Entry[]): BoundedEntries {
  const entries: Entry[] = [];
  let chars = 0;
  let dropped = 0;
  for (const [key, value] of all) {
    if (value === null) continue;
    const length = key.length + charsOf(value);
    if (length > MAX_VALUE_CHARS || chars + length > MAX_TOTAL_CHARS) {
      dropped += 1;
    } else {
      entries.push([key, value]);
      chars += length;
    }
  }
  return { entries, chars, dropped };
}

function charsOf(value: AttributeValue): number {
  return typeof value === "string" ? value.length : JSON.stringify(value).length;
}
