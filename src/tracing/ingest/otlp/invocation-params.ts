import {
  type Attributes,
  firstText,
  given,
  type JsonObject,
  listOf,
  objectOf,
  structureOf,
} from "./span.ts";
import { indexedItems } from "./nested-attributes.ts";

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

/** Besides all that are below `gen_ai.request.`. */
const PARAM_OF_KEY = new Map([
  ["llm.presence_penalty", "presence_penalty"],
  ["llm.frequency_penalty", "frequency_penalty"],
  ["llm.request.functions", "functions"],
  ["gen_ai.tool.name", "tool_name"],
]);

/** OpenInference writes them as JSON. */
const PARAMETER_OBJECTS = ["llm.invocation_parameters", "embedding.invocation_parameters"];

export function modelNameOf(attributes: Attributes): string | undefined {
  return firstText(attributes, MODEL_KEYS);
}

/** `extra.invocation_params`: how the model or the tool was called; undefined when nothing is said. */
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
  const toolArguments = given(attributes, "tool_arguments");
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
    const value = given(attributes, key);
    if (value !== undefined) return listOf(value) ?? [structureOf(value) ?? value];
  }
  const tools = indexedItems(attributes, "llm.tools").map(
    (tool) => structureOf(objectOf(tool)?.["json_schema"]) ?? tool,
  );
  return tools.length === 0 ? undefined : tools;
}
