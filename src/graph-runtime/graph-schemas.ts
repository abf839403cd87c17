import * as jsonSchemas from "@langchain/core/utils/json_schema";
import * as coreTypes from "@langchain/core/utils/types";
import {
  getConfigTypeSchema,
  getInputTypeSchema,
  getOutputTypeSchema,
  getUpdateTypeSchema,
} from "@langchain/langgraph/zod/schema";
import type { Graph } from "./graph-registry.ts";
import type { GraphSchemas } from "./protocol.ts";

/**
 * JSON Schemas of a graph. Each comes from the first source that knows it: StateSchema objects, zod
 * schemas registered with LangGraph, plain zod schemas, and what was read from the TypeScript
 * types (the only source for Annotation graphs). Null where none does.
 */
export function graphSchemas(
  graph: Graph,
  ofTypes: Partial<GraphSchemas> | undefined,
): GraphSchemas {
  const sources = [fromStateSchema(graph), fromZodRegistry(graph), fromPlainZod(graph), ofTypes];
  const first = (name: keyof GraphSchemas): unknown =>
    sources.map((source) => source?.[name]).find((schema) => schema != null) ?? null;
  return {
    input: first("input"),
    output: first("output"),
    state: first("state"),
    config: first("config"),
  };
}

type Definitions = { state: unknown; input: unknown; output: unknown; config: unknown };

/** LangGraph marks an input that is "the state, all optional" with this symbol. */
const PARTIAL_STATE = Symbol.for("langgraph.state.partial");

function definitionsOf(graph: Graph): Definitions | null {
  const builder: unknown = Reflect.get(graph, "builder");
  if (typeof builder !== "object" || builder === null) return null;
  return {
    state: Reflect.get(builder, "_schemaRuntimeDefinition"),
    input: Reflect.get(builder, "_inputRuntimeDefinition"),
    output: Reflect.get(builder, "_outputRuntimeDefinition"),
    config: Reflect.get(builder, "_configRuntimeSchema"),
  };
}

type StateSchemaLike = { getJsonSchema(): unknown; getInputJsonSchema(): unknown };

function isStateSchema(value: unknown): value is StateSchemaLike {
  return (
    typeof value === "object" &&
    value !== null &&
    "getJsonSchema" in value &&
    typeof value.getJsonSchema === "function" &&
    "getInputJsonSchema" in value &&
    typeof value.getInputJsonSchema === "function"
  );
}

function fromStateSchema(graph: Graph): Partial<GraphSchemas> | null {
  const defined = definitionsOf(graph);
  if (defined === null) return null;
  const { state, input, output, config } = defined;
  if (![state, input, output].some(isStateSchema)) return null;
  const inputOf = isStateSchema(input) ? input : input === PARTIAL_STATE ? state : undefined;
  return {
    state: isStateSchema(state) ? state.getJsonSchema() : undefined,
    input: isStateSchema(inputOf) ? inputOf.getInputJsonSchema() : undefined,
    output: isStateSchema(output) ? output.getJsonSchema() : undefined,
    config: zodToJsonSchema(config),
  };
}

function fromZodRegistry(graph: Graph): Partial<GraphSchemas> {
  return {
    state: derived(() => getUpdateTypeSchema(graph)),
    input: derived(() => getInputTypeSchema(graph)),
    output: derived(() => getOutputTypeSchema(graph)),
    config: derived(() => getConfigTypeSchema(graph)),
  };
}

function fromPlainZod(graph: Graph): Partial<GraphSchemas> | null {
  const defined = definitionsOf(graph);
  if (defined === null) return null;
  const state = zodToJsonSchema(defined.state);
  const partial = state === undefined ? undefined : { ...state, required: undefined };
  return {
    state,
    input: zodToJsonSchema(defined.input) ?? partial,
    output: zodToJsonSchema(defined.output),
    config: zodToJsonSchema(defined.config),
  };
}

/** LangChain has these from 0.3.58 on; without them the types are what is left to read. */
const isZodSchemaV3 = coreTypes.isZodSchemaV3 as typeof coreTypes.isZodSchemaV3 | undefined;
const isZodSchemaV4 = coreTypes.isZodSchemaV4 as typeof coreTypes.isZodSchemaV4 | undefined;

function zodToJsonSchema(schema: unknown): object | undefined {
  if (isZodSchemaV4?.(schema) !== true && isZodSchemaV3?.(schema) !== true) return undefined;
  return derived(() =>
    jsonSchemas.toJsonSchema(schema as Parameters<typeof jsonSchemas.toJsonSchema>[0]),
  );
}

/**
 * Returns undefined where a source throws, so that another one is asked: zod does for types without a JSON
 * form (functions, symbols), and LangGraph 1.3 for every graph with a StateSchema object.
 */
function derived<Schema>(derive: () => Schema): Schema | undefined {
  try {
    return derive();
  } catch {
    return undefined;
  }
}
