import { describe, test } from "vitest";
import { runWith } from "./support/otlp-requests.ts";

type Attributes = Parameters<typeof runWith>[0];

describe("run_type", () => {
  test.for<[Attributes, string]>([
    [{}, "chain"],
    [{ "langsmith.span.kind": "LLM" }, "llm"],
    [{ "langsmith.span.kind": "parser" }, "parser"],
    [{ "langsmith.span.kind": "retriever", "gen_ai.operation.name": "chat" }, "retriever"],
    [{ "langsmith.span.kind": "chain", "gen_ai.tool.name": "t" }, "chain"],
    [{ "langsmith.span.kind": "chain", "llm.prompt_template.variables": "{}" }, "chain"],
    [{ "langsmith.span.kind": "nonsense", "gen_ai.operation.name": "chat" }, "llm"],
    [{ "gen_ai.operation.name": "chat" }, "llm"],
    [{ "gen_ai.operation.name": "completion" }, "llm"],
    [{ "gen_ai.operation.name": "text_completion" }, "llm"],
    [{ "gen_ai.operation.name": "generate_content" }, "llm"],
    [{ "gen_ai.operation.name": "embedding" }, "embedding"],
    [{ "gen_ai.operation.name": "embeddings" }, "embedding"],
    [{ "gen_ai.operation.name": "execute_tool" }, "tool"],
    [{ "gen_ai.operation.name": "invoke_agent" }, "chain"],
    [{ "gen_ai.operation.name": "retrieval" }, "retriever"],
    [{ "gen_ai.operation.name": "chat", "openinference.span.kind": "TOOL" }, "llm"],
    [{ "gen_ai.operation.name": "unheard_of", "openinference.span.kind": "TOOL" }, "tool"],
    [{ "llm.request.type": "embedding" }, "embedding"],
    [{ "llm.request.type": "rerank" }, "llm"],
    [{ "traceloop.llm.request.type": "embedding" }, "embedding"],
    [{ "traceloop.llm.request.type": "chat", "traceloop.span.kind": "tool" }, "llm"],
    [{ "openinference.span.kind": "LLM" }, "llm"],
    [{ "openinference.span.kind": "RETRIEVER" }, "retriever"],
    [{ "openinference.span.kind": "EMBEDDING" }, "embedding"],
    [{ "openinference.span.kind": "AGENT" }, "chain"],
    [{ "openinference.span.kind": "GUARDRAIL" }, "chain"],
    [{ "openinference.span.kind": "TOOL", "traceloop.span.kind": "llm" }, "tool"],
    [{ "traceloop.span.kind": "tool" }, "tool"],
    [{ "traceloop.span.kind": "workflow" }, "chain"],
    [{ "traceloop.span.kind": "task" }, "chain"],
    [{ "gen_ai.tool.name": "search" }, "tool"],
    [{ "gen_ai.tool.name": "search", "openinference.span.kind": "CHAIN" }, "tool"],
    [{ "llm.prompt_template.variables": '{"a":1}' }, "prompt"],
    [{ "llm.prompt_template.variables": "{}", "openinference.span.kind": "LLM" }, "prompt"],
  ])("is mapped from %o to %s", ([attributes, runType], { expect }) => {
    expect(runWith(attributes).run_type).toBe(runType);
  });
});

describe("name", () => {
  test.for<[Attributes, string]>([
    [{}, "span"],
    [{ "langsmith.trace.name": "mine", "traceloop.entity.name": "theirs" }, "mine"],
    [{ "traceloop.entity.name": "joke_workflow" }, "joke_workflow"],
    [{ "openinference.span.kind": "TOOL", "tool.name": "search" }, "search"],
    [{ "openinference.span.kind": "LLM", "tool.name": "search" }, "span"],
  ])("is mapped from %o to %s", ([attributes, name], { expect }) => {
    expect(runWith(attributes).name).toBe(name);
  });
});
