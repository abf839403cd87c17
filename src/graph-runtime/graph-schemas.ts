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
 * Returns the JSON Schemas of a graph. Each schema comes from the first source that has it, in this order:
 * StateSchema objects, zod schemas registered with LangGraph, plain zod schemas, and `ofTypes`, the schemas
 * derived from the TypeScript types (the only source for Annotation graphs). A schema that no source has is
 * null.
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

/** LangGraph uses this symbol for an input that is the state with all fields optional. */
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

/** LangChain has these functions from 0.3.58 on. Without them only the TypeScript types are left as a source. */
const isZodSchemaV3 = coreTypes.isZodSchemaV3 as typeof coreTypes.isZodSchemaV3 | undefined;
const isZodSchemaV4 = coreTypes.isZodSchemaV4 as typeof coreTypes.isZodSchemaV4 | undefined;

function zodToJsonSchema(schema: unknown): object | undefined {
  if (isZodSchemaV4?.(schema) !== true && isZodSchemaV3?.(schema) !== true) return undefined;
  return derived(() =>
    jsonSchemas.toJsonSchema(schema as Parameters<typeof jsonSchemas.toJsonSchema>[0]),
  );
}

/**
 * Returns undefined when a source throws, so that the next source is tried. Zod throws for types without a
 * JSON form (functions, symbols), and LangGraph 1.3 throws for every graph with a StateSchema object.
 */
function derived<Schema>(derive: () => Schema): Schema | undefined {
  try {
    return derive();
  } catch {
    return undefined;
  }
}
