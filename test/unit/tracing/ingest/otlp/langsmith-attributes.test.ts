import { describe, test } from "vitest";
import {
  mapped,
  mappedRun,
  metadataWith,
  ROOT_SPAN,
  runWith,
  TRACE,
} from "./support/otlp-requests.ts";

const PROJECT_ID = "0198c0de-0000-7000-8000-0000000000aa";
const EXAMPLE_ID = "0198c0de-0000-7000-8000-0000000000e1";

describe("LangSmith's attributes", () => {
  test("name the project, with precedence over the request", ({ expect }) => {
    const project = (attributes: Record<string, string>) => {
      const { session_id, session_name } = mappedRun({ attributes }, { projectName: "header" });
      return { session_id, session_name };
    };
    expect(project({})).toEqual({ session_name: "header" });
    expect(project({ "langsmith.trace.session_name": "own" })).toEqual({ session_name: "own" });
    expect(
      project({
        "langsmith.trace.session_name": "own",
        "langsmith.trace.session_id": PROJECT_ID,
      }),
    ).toEqual({ session_id: PROJECT_ID });
    expect(runWith({}).session_name).toBe(undefined);
  });

  test("separate tags by commas", ({ expect }) => {
    expect(runWith({ "langsmith.span.tags": "a, b c,,a ," }).tags).toEqual(["a", "b c"]);
    expect(runWith({ "langsmith.span.tags": ["x,y", "z"], "tag.tags": ["z", "w"] }).tags).toEqual([
      "x,y",
      "z",
      "w",
    ]);
    expect(runWith({ "langsmith.span.tags": "," }).tags).toBe(undefined);
  });

  test("have metadata of any key and type, with precedence over other conventions", ({
    expect,
  }) => {
    expect(
      metadataWith({
        "traceloop.association.properties.user_id": "traceloop",
        "traceloop.association.properties.chat": 7,
        "langsmith.metadata.user_id": "u1",
        "langsmith.metadata.thread_id": "t1",
        "langsmith.metadata.nested.key": true,
        "langsmith.metadata.ls_provider": "openai",
        "langsmith.metadata.__proto__": "p",
        "gen_ai.system": "langchain",
      }),
    ).toEqual(
      Object.fromEntries([
        ["ls_provider", "openai"],
        ["user_id", "u1"],
        ["chat", 7],
        ["thread_id", "t1"],
        ["nested.key", true],
        ["__proto__", "p"],
      ]),
    );
  });

  test("cannot replace the ids of the span", ({ expect }) => {
    const { extra } = runWith({
      "langsmith.metadata.OTEL_SPAN_ID": "x",
      metadata: '{"OTEL_TRACE_ID":"y"}',
      OTEL_SPAN_ID: "z",
    });
    expect(extra["metadata"]).toMatchObject({ OTEL_TRACE_ID: TRACE, OTEL_SPAN_ID: ROOT_SPAN });
  });

  test("have the example and the runtime", ({ expect }) => {
    const run = runWith({
      "langsmith.reference_example_id": EXAMPLE_ID,
      "langsmith.span.runtime": '{"sdk":"langsmith-js"}',
    });
    expect(run.reference_example_id).toBe(EXAMPLE_ID);
    expect(run.extra["runtime"]).toEqual({ sdk: "langsmith-js" });
  });

  test("describe a model call as LangSmith's exporter writes it", ({ expect }) => {
    const usage = { input_tokens: 3, output_tokens: 4, input_token_details: { cache_read: 1 } };
    const run = runWith({
      "langsmith.traceable": "true",
      "langsmith.span.kind": "llm",
      "gen_ai.operation.name": "chat",
      "langsmith.trace.name": "ChatOpenAI",
      "langsmith.trace.session_name": "demo",
      "gen_ai.system": "openai",
      "gen_ai.request.model": "gpt-5",
      "gen_ai.usage.input_tokens": 3,
      "gen_ai.usage.output_tokens": 4,
      "gen_ai.usage.total_tokens": 7,
      "gen_ai.usage.input_token_details": '{"cache_read":1}',
      "langsmith.usage_metadata": JSON.stringify(usage),
      "langsmith.metadata.ls_provider": "openai",
      "langsmith.metadata.usage_metadata": "{}",
      "gen_ai.prompt": '{"messages":[{"role":"user","content":"hi"}]}',
      "gen_ai.completion": `{"text":"hello","usage_metadata":${JSON.stringify(usage)}}`,
    });
    expect(run.inputs).toEqual({ messages: [{ role: "user", content: "hi" }] });
    expect(run.outputs).toEqual({ text: "hello", usage_metadata: usage });
    expect([run.name, run.run_type, run.session_name]).toEqual(["ChatOpenAI", "llm", "demo"]);
    expect(run.extra["invocation_params"]).toEqual({ model: "gpt-5" });
    expect(run.extra["metadata"]).toEqual({
      "otel.scope.name": "tests",
      "otel.scope.version": "1.2.3",
      ls_provider: "openai",
      ls_model_name: "gpt-5",
      usage_metadata: usage,
      OTEL_TRACE_ID: TRACE,
      OTEL_SPAN_ID: ROOT_SPAN,
    });
  });
});

describe("attachments", () => {
  const attachmentsWith = (value: unknown) => {
    const json = typeof value === "string" ? value : JSON.stringify(value);
    const { runs, warnings, rejected } = mapped([
      { attributes: { "langsmith.attachments": json } },
    ]);
    return { attachments: runs[0]?.attachments, warnings, rejected };
  };

  test("are stored with the run, and not in its metadata", ({ expect }) => {
    const list = [
      { name: "receipt.png", content: "AAH/", mime_type: "image/png" },
      { name: "raw", content: "" },
    ];
    expect(attachmentsWith(list)).toEqual({
      attachments: [
        { name: "receipt.png", mimeType: "image/png", bytes: Uint8Array.of(0, 1, 255) },
        { name: "raw", mimeType: "application/octet-stream", bytes: new Uint8Array() },
      ],
      warnings: [],
      rejected: [],
    });
    expect(metadataWith({ "langsmith.attachments": "[]" })).toEqual({});
  });

  test.for<[unknown, string]>([
    ["nonsense", "langsmith.attachments should be a list as JSON"],
    [[1], "langsmith.attachments[0].name should be a text"],
    [[{ name: "" }], "langsmith.attachments[0].name should be a text"],
    [[{ name: "a" }], "langsmith.attachments[0].content should be a text in base64"],
    [[{ name: "a", content: "*" }], "langsmith.attachments[0].content should be base64"],
    [
      [{ name: "a", content: "", mime_type: 1 }],
      "langsmith.attachments[0].mime_type should be a text",
    ],
  ])("cause a warning but keep the run if they are bad: %o", ([value, problem], { expect }) => {
    expect(attachmentsWith(value)).toEqual({
      attachments: [],
      warnings: [
        `span ${ROOT_SPAN} of trace ${TRACE}: ${problem}; the run is stored without this attachment`,
      ],
      rejected: [],
    });
  });
});
