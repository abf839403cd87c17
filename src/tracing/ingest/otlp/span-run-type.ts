import { RUN_TYPES, type RunType } from "../../model/run-write.ts";
import { type Attributes, firstText, givenAttribute, textAttribute } from "./span.ts";

const OPERATIONS = new Map<string, RunType>([
  ["chat", "llm"],
  ["completion", "llm"],
  ["text_completion", "llm"],
  ["generate_content", "llm"],
  ["embedding", "embedding"],
  ["embeddings", "embedding"],
  ["execute_tool", "tool"],
  ["retrieval", "retriever"],
  ["create_agent", "chain"],
  ["invoke_agent", "chain"],
  ["invoke_workflow", "chain"],
]);

/** Run types by span kind, which OpenInference writes in capitals. All other kinds are chains. */
const SPAN_KINDS = new Map<string, RunType>([
  ["tool", "tool"],
  ["llm", "llm"],
  ["retriever", "retriever"],
  ["embedding", "embedding"],
]);

/**
 * Returns the run type that the attributes declare. In order of precedence: LangSmith's own kind; the name of
 * a tool or the variables of a prompt template, which only such spans have; the kind in the conventions.
 */
export function runTypeOf(attributes: Attributes): RunType {
  return (
    ownKind(attributes) ?? templateOrTool(attributes) ?? conventionalType(attributes) ?? "chain"
  );
}

/**
 * Returns whether the span is declared to be an agent, a workflow or another chain around model calls. The
 * tokens that such spans report are those of the calls within.
 */
export function isContainer(attributes: Attributes): boolean {
  return ownKind(attributes) === undefined && conventionalType(attributes) === "chain";
}

/** Returns whether the span is a TOOL of OpenInference, whose name is in a separate attribute. */
export function isOpenInferenceTool(attributes: Attributes): boolean {
  return textAttribute(attributes, "openinference.span.kind")?.toLowerCase() === "tool";
}

function ownKind(attributes: Attributes): RunType | undefined {
  const kind = textAttribute(attributes, "langsmith.span.kind")?.toLowerCase();
  return RUN_TYPES.find((type) => type === kind);
}

function templateOrTool(attributes: Attributes): RunType | undefined {
  if (givenAttribute(attributes, "llm.prompt_template.variables") !== undefined) return "prompt";
  return textAttribute(attributes, "gen_ai.tool.name") === undefined ? undefined : "tool";
}

function conventionalType(attributes: Attributes): RunType | undefined {
  const operation = textAttribute(attributes, "gen_ai.operation.name")?.toLowerCase() ?? "";
  const ofOperation = OPERATIONS.get(operation);
  if (ofOperation !== undefined) return ofOperation;
  const request = firstText(attributes, ["llm.request.type", "traceloop.llm.request.type"]);
  if (request !== undefined) return request.toLowerCase() === "embedding" ? "embedding" : "llm";
  const kind = firstText(attributes, ["openinference.span.kind", "traceloop.span.kind"]);
  return kind === undefined ? undefined : (SPAN_KINDS.get(kind.toLowerCase()) ?? "chain");
}
