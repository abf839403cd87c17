import type { JsonObject } from "../../../lib/json.ts";
import {
  type Attributes,
  firstText,
  givenAttribute,
  listOf,
  objectOf,
  structureOf,
} from "./span.ts";
import { indexedItems } from "./nested-attributes.ts";
import { isContainer } from "./span-run-type.ts";

const MODEL_KEYS = [
  "gen_ai.request.model",
  "gen_ai.response.model",
  "model",
  "llm.model_name",
  "llm.request.model_name",
  "llm.response.model_name",
  "embedding.model_name",
];

const REQUEST_PREFIX = "gen_ai.request.";

/** The names of parameters, besides all those below `gen_ai.request.`. */
const PARAM_OF_KEY = new Map([
  ["llm.presence_penalty", "presence_penalty"],
  ["llm.frequency_penalty", "frequency_penalty"],
  ["llm.request.functions", "functions"],
  ["gen_ai.tool.name", "tool_name"],
]);

/** OpenInference writes these objects as JSON. */
const PARAMETER_OBJECTS = ["llm.invocation_parameters", "embedding.invocation_parameters"];

export function modelNameOf(attributes: Attributes): string | undefined {
  return firstText(attributes, MODEL_KEYS);
}

/** Returns `extra.invocation_params`: how the model or the tool was called; undefined if nothing is known. */
export function invocationParamsOf(attributes: Attributes): JsonObject | undefined {
  const params = new Map<string, unknown>();
  for (const [key, value] of attributes) {
    const name = paramName(key);
    if (name !== undefined && value !== null) params.set(name, value);
  }
  const model = modelNameOf(attributes);
  if (model !== undefined) params.set("model", model);
  for (const key of PARAMETER_OBJECTS) {
    for (const [name, value] of Object.entries(objectOf(attributes.get(key)) ?? {})) {
      params.set(name, value);
    }
  }
  const tools = toolsOf(attributes);
  if (tools !== undefined) params.set("tools", tools);
  const toolArguments = givenAttribute(attributes, "tool_arguments");
  if (toolArguments !== undefined) {
    params.set("tool_arguments", structureOf(toolArguments) ?? toolArguments);
  }
  return params.size === 0 ? undefined : Object.fromEntries(params);
}

function paramName(key: string): string | undefined {
  if (!key.startsWith(REQUEST_PREFIX)) return PARAM_OF_KEY.get(key);
  const name = key.slice(REQUEST_PREFIX.length);
  return name === "stop_sequences" ? "stop" : name;
}

function toolsOf(attributes: Attributes): unknown[] | undefined {
  for (const key of ["tools", "gen_ai.tool.definitions"]) {
    const value = givenAttribute(attributes, key);
    if (value !== undefined) return listOf(value) ?? [structureOf(value) ?? value];
  }
  const tools = indexedItems(attributes, "llm.tools").map(
    (tool) => structureOf(objectOf(tool)?.["json_schema"]) ?? tool,
  );
  return tools.length === 0 ? undefined : tools;
}

/** Several keys stand for one count: the first one present is used. */
const COUNT_KEYS = {
  input_tokens: [
    "gen_ai.usage.input_tokens",
    "gen_ai.usage.prompt_tokens",
    "llm.token_count.prompt",
  ],
  output_tokens: [
    "gen_ai.usage.output_tokens",
    "gen_ai.usage.completion_tokens",
    "llm.token_count.completion",
  ],
  total_tokens: ["gen_ai.usage.total_tokens", "llm.token_count.total", "llm.usage.total_tokens"],
  reasoning_tokens: ["gen_ai.usage.details.reasoning_tokens"],
};

const INPUT_DETAIL_KEYS = {
  cache_read: [
    "gen_ai.usage.cache_read.input_tokens",
    "gen_ai.usage.cache_read_input_tokens",
    "llm.token_count.prompt_details.cache_read",
  ],
  cache_creation: [
    "gen_ai.usage.cache_creation.input_tokens",
    "gen_ai.usage.cache_creation_input_tokens",
    "llm.token_count.prompt_details.cache_write",
  ],
  audio: ["llm.token_count.prompt_details.audio"],
};

const OUTPUT_DETAIL_KEYS = {
  reasoning: [
    "gen_ai.usage.details.reasoning_tokens",
    "gen_ai.usage.reasoning.output_tokens",
    "gen_ai.usage.reasoning_tokens",
    "llm.token_count.completion_details.reasoning",
  ],
  audio: ["llm.token_count.completion_details.audio"],
};

/** Keys of whole objects as JSON, which LangSmith's SDKs write, in order of precedence. */
const USAGE_OBJECTS = ["langsmith.usage_metadata", "langsmith.metadata.usage_metadata"];

/**
 * Returns the `usage_metadata` of a run. Counts of the conventions are left out if they repeat those of the
 * spans within, as in an agent; an object of LangSmith's is used unchanged.
 */
export function usageMetadataOf(attributes: Attributes): JsonObject | undefined {
  for (const key of USAGE_OBJECTS) {
    const usage = objectOf(attributes.get(key));
    if (usage !== undefined) return usage;
  }
  if (isContainer(attributes)) return undefined;
  const usage: JsonObject = { ...countsOf(attributes, COUNT_KEYS) };
  const details = {
    input_token_details: {
      ...objectOf(attributes.get("gen_ai.usage.input_token_details")),
      ...countsOf(attributes, INPUT_DETAIL_KEYS),
    },
    output_token_details: {
      ...objectOf(attributes.get("gen_ai.usage.output_token_details")),
      ...countsOf(attributes, OUTPUT_DETAIL_KEYS),
    },
  };
  for (const [key, detail] of Object.entries(details)) {
    if (Object.keys(detail).length > 0) usage[key] = detail;
  }
  return Object.keys(usage).length === 0 ? undefined : usage;
}

function countsOf(
  attributes: Attributes,
  keysOf: Record<string, readonly string[]>,
): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const [name, keys] of Object.entries(keysOf)) {
    for (const key of keys) {
      const count = countOf(attributes.get(key));
      if (count === undefined) continue;
      counts[name] = count;
      break;
    }
  }
  return counts;
}

/** Some SDKs write counts as text, or as doubles. */
function countOf(value: unknown): number | undefined {
  const count = typeof value === "string" && /^\d+$/.test(value) ? Number(value) : value;
  return typeof count === "number" && Number.isSafeInteger(count) && count >= 0 ? count : undefined;
}
