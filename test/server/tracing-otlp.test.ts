import { context, SpanStatusCode, trace, type Tracer } from "@opentelemetry/api";
import { OTLPTraceExporter as HttpExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { OTLPTraceExporter as ProtoExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { RunTree } from "langsmith";
import { describe } from "vitest";
import { testWithSharedServer } from "../support/shared-server.ts";
import { collect, type TracingWorkspace, tracingWorkspace } from "../support/tracing.ts";

const test = testWithSharedServer();

const EXPORTERS = { proto: ProtoExporter, http: HttpExporter };

type Options = {
  encoding: keyof typeof EXPORTERS;
  project: string;
  /** Whether each span is sent in its own request when it ends, children first. */
  oneByOne?: boolean;
};

function provider(url: string, { apiKey }: TracingWorkspace, options: Options) {
  const exporter = new EXPORTERS[options.encoding]({
    url: `${url}/api/v1/otel/v1/traces`,
    headers: { "x-api-key": apiKey, "Langsmith-Project": options.project },
  });
  const Processor = options.oneByOne ? SimpleSpanProcessor : BatchSpanProcessor;
  return new BasicTracerProvider({ spanProcessors: [new Processor(exporter)] });
}

/** Records an agent that calls a model, which calls a tool that fails. */
function recordAgent(tracer: Tracer): void {
  const agent = tracer.startSpan("agent", {
    attributes: { "langsmith.span.kind": "chain", "input.value": '{"question":"tea?"}' },
  });
  const inAgent = trace.setSpan(context.active(), agent);
  const model = tracer.startSpan(
    "model",
    {
      attributes: {
        "gen_ai.operation.name": "chat",
        "gen_ai.system": "openai",
        "gen_ai.request.model": "gpt-4o-mini",
        "gen_ai.prompt.0.role": "user",
        "gen_ai.prompt.0.content": "tea?",
        "gen_ai.completion.0.role": "assistant",
        "gen_ai.completion.0.content": "yes",
        "gen_ai.usage.input_tokens": 1000,
        "gen_ai.usage.output_tokens": 2000,
      },
    },
    inAgent,
  );
  const tool = tracer.startSpan(
    "tool",
    { attributes: { "gen_ai.tool.name": "kettle" } },
    trace.setSpan(inAgent, model),
  );
  tool.recordException(new Error("no water"));
  tool.setStatus({ code: SpanStatusCode.ERROR });
  tool.end();
  model.end();
  agent.setAttribute("output.value", "yes");
  agent.end();
}

describe.each(["proto", "http"] as const)("an OTLP exporter (%s)", (encoding) => {
  test.for([false, true])(
    "exports a trace span by span: %s",
    async (oneByOne, { server, expect }) => {
      const project = `otel ${encoding} ${oneByOne}`;
      const workspace = await tracingWorkspace(server, project);
      const traces = provider(server.url, workspace, { encoding, project, oneByOne });
      recordAgent(traces.getTracer("test"));
      await traces.shutdown();
      const runs = await expect
        .poll(() => collect(workspace.client.listRuns({ projectName: project, order: "asc" })))
        .toHaveLength(3)
        .then(() => collect(workspace.client.listRuns({ projectName: project, order: "asc" })));
      const byName = new Map(runs.map((run) => [run.name, run]));
      const [agent, model, tool] = ["agent", "model", "tool"].map((name) => byName.get(name));
      expect(agent).toMatchObject({
        run_type: "chain",
        status: "success",
        inputs: { question: "tea?" },
        parent_run_id: null,
        total_tokens: 3000,
      });
      expect(agent?.trace_id).toBe(agent?.id);
      expect(model).toMatchObject({
        run_type: "llm",
        parent_run_id: agent?.id,
        prompt_tokens: 1000,
        completion_tokens: 2000,
        total_cost: "0.00135",
        extra: { metadata: { ls_provider: "openai", ls_model_name: "gpt-4o-mini" } },
      });
      expect(tool).toMatchObject({
        run_type: "tool",
        status: "error",
        parent_run_id: model?.id,
        error: expect.stringContaining("no water") as string,
      });
    },
  );
});

test("spans are attached below a run of the official client", async ({ server, expect }) => {
  const workspace = await tracingWorkspace(server, "mixed", { autoBatchTracing: false });
  const { client } = workspace;
  const root = new RunTree({ name: "sdk root", run_type: "chain", client, project_name: "mixed" });
  const traces = provider(server.url, workspace, { encoding: "proto", project: "mixed" });
  const span = traces.getTracer("test").startSpan("otel child", {
    attributes: {
      "langsmith.trace.id": root.id,
      "langsmith.span.parent_id": root.id,
      "langsmith.span.kind": "tool",
    },
  });
  span.end();
  // The span arrives first, and waits on disk for its parent.
  await traces.forceFlush();
  expect(
    await workspace.api("GET", "/sessions?name=mixed").then((response) => response.json()),
  ).toEqual([]);
  await root.postRun();
  const second = traces.getTracer("test").startSpan("second child", {
    attributes: { "langsmith.trace.id": root.id, "langsmith.span.parent_id": root.id },
  });
  second.end();
  await traces.shutdown();
  await expect
    .poll(async () => {
      const runs = await collect(client.listRuns({ projectName: "mixed" }));
      return runs.map(({ name, parent_run_id }) => `${name} below ${parent_run_id}`).toSorted();
    })
    .toEqual([
      `otel child below ${root.id}`,
      "sdk root below null",
      `second child below ${root.id}`,
    ]);
});

test("an OTLP request gets a report of what cannot be ingested", async ({ server, expect }) => {
  const { apiKey } = await tracingWorkspace(server, "refused");
  const send = (body: string, contentType: string, key = apiKey) =>
    server.fetch("/otel/v1/traces", {
      method: "POST",
      headers: { "x-api-key": key, "content-type": contentType },
      body,
    });
  expect((await send("{}", "text/plain")).status).toBe(415);
  expect((await send("{", "application/json")).status).toBe(400);
  expect((await send("\u0001", "application/x-protobuf")).status).toBe(400);
  expect((await send("{}", "application/json", "tw_none")).status).toBe(401);
  const empty = await send("{}", "application/json");
  expect([empty.status, await empty.json()]).toEqual([200, {}]);
});
