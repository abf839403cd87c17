import type { Run } from "@langchain/core/tracers/base";
import {
  LangChainTracer,
  type LangChainTracerFields,
} from "@langchain/core/tracers/tracer_langchain";
import type { RunPort, RunSpec } from "./protocol.ts";
import { type RootRun, rootRun } from "./trace-json.ts";
import { TraceQueue } from "./trace-queue.ts";
import { isUserKey } from "./run-config.ts";

/** What records a run while it goes on. */
type RunRecorder = {
  /** A callback handler for the graph, to be inherited by all that it calls. */
  tracer: LangChainTracer;
  /** Ends what is still open. Resolves when all is recorded or lost; never rejects. */
  close: () => Promise<void>;
};

/** Returns null where the run is not to be traced, or cannot be. */
export function traceRun(spec: RunSpec, port: Pick<RunPort, "trace">): RunRecorder | null {
  if (spec.trace === null) return null;
  const queue = new TraceQueue((batch) => port.trace(batch));
  const { started_at, metadata } = spec.trace;
  const root = {
    ...rootRun(spec.run_id, started_at),
    // An attempt that continues is given no input: the first one's shows what the run was asked.
    inputs: spec.resuming ? asRecord(spec.command ?? spec.input) : null,
  };
  try {
    const tracer = new RunTracer({ ...traceDestinations(queue), metadata }, root);
    return { tracer, close: () => queue.close() };
  } catch (error) {
    // The environment asks LangChain's tracer for something impossible: the run goes on without one.
    console.error({ event: "trace_lost", run_id: spec.run_id, error: String(error) });
    return null;
  }
}

type TracedRoot = RootRun & { inputs: Record<string, unknown> | null };

/**
 * LangChain's own tracer under its own name, by which LangChain and `traceable` functions find it, so
 * that what they record becomes part of the trace.
 */
class RunTracer extends LangChainTracer {
  readonly #root: TracedRoot;

  constructor(fields: LangChainTracerFields, root: TracedRoot) {
    super(fields);
    this.#root = root;
  }

  /** LangGraph makes a copy for each graph, with metadata of its own. */
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

  override _addRunToRunMap(run: Run): ReturnType<LangChainTracer["_addRunToRunMap"]> {
    if (run.id !== this.#root.id) return super._addRunToRunMap(run);
    const start_time = Date.parse(this.#root.start_time);
    return super._addRunToRunMap({ ...run, start_time, inputs: this.#root.inputs ?? run.inputs });
  }

  /** Nothing reads the list of children, which would hold every value of the run until its end. */
  protected override _addChildRun(): void {}
}

/** LangChain copies texts of `configurable` into the metadata of traces. */
function withoutUser(metadata: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(metadata).filter(([key]) => !isUserKey(key)));
}

function asRecord(value: unknown): Record<string, unknown> {
  const isRecord = typeof value === "object" && value !== null && !Array.isArray(value);
  return isRecord ? { ...value } : { input: value };
}

type Client = NonNullable<LangChainTracerFields["client"]>;

type TracedCreate = Parameters<Client["createRun"]>[0];

type TracedUpdate = Parameters<Client["updateRun"]>[1];

type Destinations = Pick<LangChainTracerFields, "client" | "replicas">;

/** The address that a write of one replica is for; none for the tracer's own. */
type WriteOptions = { apiUrl?: string };

/** Both methods of LangSmith's client take a replica's address, though the interface has it not. */
type AddressedClient = {
  createRun: (run: TracedCreate, to?: WriteOptions) => Promise<void>;
  updateRun: (id: string, run: TracedUpdate, to?: WriteOptions) => Promise<void>;
};

/**
 * To the queue, and to where the project's environment sends traces, if it does: LangChain adds no
 * tracer of its own beside one that is there.
 */
function traceDestinations(queue: TraceQueue): Destinations {
  // One replica without an address: LangChain would take them from the environment otherwise.
  const here = {};
  if (!isRequestedByEnvironment()) {
    const client: Client = {
      createRun: async (run) => queue.post(run),
      updateRun: async (id, run) => queue.patch(id, run),
    };
    return { client, replicas: [here] };
  }
  const requested = new LangChainTracer();
  const elsewhere = replicasOf(requested);
  const theirs: AddressedClient = requested.client;
  const isOurs = (to?: WriteOptions): boolean => to?.apiUrl === undefined;
  const isTheirs = (to?: WriteOptions): boolean => elsewhere.length === 0 || !isOurs(to);
  const client: AddressedClient = {
    // That client changes what it is given.
    createRun: async (run: TracedCreate, to?: WriteOptions) => {
      if (isOurs(to)) queue.post(run);
      if (isTheirs(to)) await theirs.createRun({ ...run }, to);
    },
    updateRun: async (id: string, run: TracedUpdate, to?: WriteOptions) => {
      if (isOurs(to)) queue.patch(id, run);
      if (isTheirs(to)) await theirs.updateRun(id, { ...run }, to);
    },
  };
  return { client, replicas: [...elsewhere, here] };
}

const TRACING_VARIABLES = [
  "LANGSMITH_TRACING_V2",
  "LANGCHAIN_TRACING_V2",
  "LANGSMITH_TRACING",
  "LANGCHAIN_TRACING",
] as const;

function isRequestedByEnvironment(): boolean {
  return TRACING_VARIABLES.some((name) => process.env[name] === "true");
}

/** What LANGSMITH_RUNS_ENDPOINTS names; empty without it. */
function replicasOf(tracer: LangChainTracer): NonNullable<LangChainTracerFields["replicas"]> {
  const id = crypto.randomUUID();
  tracer._createRunForChainStart({ lc: 1, type: "not_implemented", id: ["probe"] }, {}, id);
  return tracer.getRunTreeWithTracingConfig(id)?.replicas ?? [];
}
