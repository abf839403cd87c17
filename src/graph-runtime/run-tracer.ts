import type { Run } from "@langchain/core/tracers/base";
import {
  LangChainTracer,
  type LangChainTracerFields,
} from "@langchain/core/tracers/tracer_langchain";
import type { RunPort, RunSpec, TraceSpec } from "./protocol.ts";
import { type RootRun, rootRun } from "./trace-json.ts";
import { TraceQueue } from "./trace-queue.ts";
import { isUserKey } from "./run-config.ts";
import { isTracedElsewhere, PendingWrites, traceDestinations } from "./trace-destinations.ts";

/** Records a run while it is in progress. */
type RunRecorder = {
  /** A callback handler for the graph, to be inherited by everything that it calls. */
  tracer: LangChainTracer;
  /** Ends the runs of the trace that are still open. Resolves when all is recorded or lost; never rejects. */
  close: () => Promise<void>;
};

/** Returns null when neither the platform nor the project traces the run, or it cannot be traced. */
export function traceRun(spec: RunSpec, port: Pick<RunPort, "trace">): RunRecorder | null {
  const { trace } = spec;
  if (trace === null && !isTracedElsewhere()) return null;
  const queue = trace === null ? null : new TraceQueue((batch) => port.trace(batch));
  try {
    const others = new PendingWrites();
    const fields = { ...traceDestinations(queue, others), ...metadataOf(spec) };
    const tracer = new RunTracer(fields, trace === null ? null : tracedRoot(spec, trace));
    return {
      tracer,
      close: async () => void (await Promise.all([queue?.close(), others.ended()])),
    };
  } catch (error) {
    // The environment configures LangChain's tracer in a way that is not possible; the run continues without a trace.
    console.error({ event: "trace_lost", run_id: spec.run_id, error: String(error) });
    return null;
  }
}

function metadataOf({ trace }: RunSpec): Pick<LangChainTracerFields, "metadata"> {
  return trace === null ? {} : { metadata: trace.metadata };
}

function tracedRoot(spec: RunSpec, { started_at }: TraceSpec): TracedRoot {
  return {
    ...rootRun(spec.run_id, started_at),
    // An attempt that continues receives no input; the trace shows the input of the first attempt.
    inputs: spec.resuming ? asRecord(spec.command ?? spec.input) : null,
  };
}

type TracedTree = ReturnType<LangChainTracer["getRunTreeWithTracingConfig"]>;

type TracedRoot = RootRun & { inputs: Record<string, unknown> | null };

/**
 * LangChain's own tracer, under its own name. LangChain and `traceable` functions find it by that name, so
 * that the runs they record become part of the trace.
 */
class RunTracer extends LangChainTracer {
  readonly #root: TracedRoot | null;

  /** Without a root, that of the trace is as LangChain has it. */
  constructor(fields: LangChainTracerFields, root: TracedRoot | null) {
    super(fields);
    this.#root = root;
  }

  /** LangGraph makes a copy for each graph, with its own metadata. */
  override copyWithTracingConfig(
    config: Parameters<LangChainTracer["copyWithTracingConfig"]>[0],
  ): LangChainTracer {
    const { tracingMetadata, tracingTags } = super.copyWithTracingConfig(config);
    const metadata =
      tracingMetadata === undefined ? {} : { metadata: withoutUser(tracingMetadata) };
    const copy = new RunTracer({ ...this.fields, ...metadata, tags: tracingTags }, this.#root);
    copy.runMap = this.runMap;
    copy.runTreeMap = this.runTreeMap;
    return copy;
  }

  /**
   * Returns a copy of a run's tree with this tracer's destinations. LangChain makes one for each write and each call of
   * a runnable, with a constructor that takes ten times as long to find what the tree already has.
   */
  override getRunTreeWithTracingConfig(id: string): TracedTree {
    const tree = this.runTreeMap?.get(id);
    if (tree === undefined || this.replicas === undefined) {
      return super.getRunTreeWithTracingConfig(id);
    }
    const copy: typeof tree = Object.create(Object.getPrototypeOf(tree));
    Object.assign(copy, tree, {
      client: this.client,
      replicas: this.replicas,
      reference_example_id: this.exampleId,
      tracingEnabled: true,
      extra: { ...tree.extra, metadata: { ...tree.extra?.["metadata"] } },
    });
    if (this.projectName != null) copy.project_name = this.projectName;
    return copy;
  }

  override _addRunToRunMap(run: Run): ReturnType<LangChainTracer["_addRunToRunMap"]> {
    const root = this.#root;
    if (run.id !== root?.id) return super._addRunToRunMap(run);
    const start_time = Date.parse(root.start_time);
    return super._addRunToRunMap({ ...run, start_time, inputs: root.inputs ?? run.inputs });
  }

  /** Nothing reads the list of children, which would hold every value of the run until its end. */
  protected override _addChildRun(): void {}
}

/** Removes the user's keys, because LangChain copies string values of `configurable` into the metadata of traces. */
function withoutUser(metadata: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(metadata).filter(([key]) => !isUserKey(key)));
}

function asRecord(value: unknown): Record<string, unknown> {
  const isRecord = typeof value === "object" && value !== null && !Array.isArray(value);
  return isRecord ? { ...value } : { input: value };
}
