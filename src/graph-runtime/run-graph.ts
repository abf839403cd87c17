import type { LangChainTracer } from "@langchain/core/tracers/tracer_langchain";
import { Command } from "@langchain/langgraph";
import { bindCheckpointer, type Graph, type GraphRegistry } from "./graph-registry.ts";
import { MAX_VALUES_BYTES, messageBytes, requireMessageSize } from "./message-size.ts";
import type { ProjectStore } from "./graph-operations.ts";
import {
  CHECKPOINT_POINTERS,
  type RunError,
  type RunOutcome,
  type RunPort,
  type RunSpec,
  type ThreadSnapshot,
} from "./protocol.ts";
import { checkGoto, toCommand } from "./run-command.ts";
import { checkpointMetadata, factoryConfig, runnableConfig } from "./run-config.ts";
import { withPointers } from "./checkpoint-pointers.ts";
import { PassingCheckpointer } from "./passing-checkpointer.ts";
import { RunJournal, SupersededError } from "./run-journal.ts";
import { traceRun } from "./run-tracer.ts";
import { StreamTransformers } from "./stream-transformers.ts";
import {
  EventMapper,
  type GraphChunk,
  graphStreamModes,
  tellsCheckpoints,
} from "./stream-events.ts";
import { ThreadCheckpointer } from "./thread-checkpointer.ts";
import { toThreadSnapshot } from "./thread-state.ts";
import { ThreadStore } from "./thread-store.ts";
import { withStops } from "./untold-stops.ts";
import { toWireJson } from "./wire-json.ts";

/** The registry of the graphs that can run, and the settings by which they use the store. */
export type RunProject = { registry: GraphRegistry; store: ProjectStore };

/** The reason with which a cancelled run's signal is aborted; clients never see it. */
class CancelledError extends Error {
  override readonly name = "AbortError";
}

/** Thrown when the run takes longer than the time-out in its own config. */
class TimeoutError extends Error {
  override readonly name = "TimeoutError";
}

/**
 * Executes one attempt of a run and resolves with its outcome; an error that the graph throws is an outcome
 * too. Rejects only when the attempt was superseded, in which case the outcome is no longer needed.
 * `waitUntil` is called with the work that continues after that: sending the rest of the trace.
 */
export async function runGraph(
  project: RunProject,
  spec: RunSpec,
  port: RunPort,
  waitUntil: (promise: Promise<void>) => void,
): Promise<RunOutcome> {
  const trace = traceRun(spec, port);
  try {
    return await execute(project, spec, port, trace?.tracer ?? null);
  } finally {
    if (trace !== null) waitUntil(trace.close());
  }
}

async function execute(
  { registry, store }: RunProject,
  spec: RunSpec,
  port: RunPort,
  tracer: LangChainTracer | null,
): Promise<RunOutcome> {
  const abort = new AbortController();
  let cancelled = false;
  port.cancelled().then(
    () => {
      cancelled = true;
      abort.abort(new CancelledError("The run was cancelled"));
    },
    () => abort.abort(new SupersededError("The thread is gone")),
  );
  const journal = new RunJournal(port, {
    follow: spec.follow,
    onSuperseded: (reason) => abort.abort(reason),
  });
  const checkpointer = new ThreadCheckpointer({
    threadId: spec.thread_id,
    port,
    sink: (op) => {
      journal.checkpoint(op);
      // Only `sync` makes the next step wait; otherwise the run's last commit covers all.
      return spec.durability === "sync" ? journal.flush() : journal.relief();
    },
    metadata: checkpointMetadata(spec),
    knownNamespaces: spec.namespaces,
    start: spec.start,
  });

  const { timeout } = spec.config;
  const timer =
    timeout === undefined
      ? undefined
      : setTimeout(() => {
          abort.abort(new TimeoutError(`The run took longer than its timeout of ${timeout} ms`));
        }, timeout);
  let lastValues: unknown;
  let interrupts: unknown[] | null = null;
  let failure: unknown;
  let graph: Graph | undefined;
  let transformers: StreamTransformers | null = null;
  try {
    graph = await registry.get(spec.graph_id, factoryConfig(spec), {
      accessContext: "threads.create_run",
      executionRuntime: { context: spec.context ?? undefined },
    });
    if (graph === undefined) throw new Error(`Graph "${spec.graph_id}" not found`);
    if (spec.command !== null) checkGoto(spec.command, graph);
    const mapper = new EventMapper(spec.stream_mode);
    const streamed = streamGraph(graph, spec, {
      checkpointer,
      store: new ThreadStore(port, store),
      signal: abort.signal,
      tracer,
      onRawEvent: (event) => journal.event({ event: "events", data: toWireJson(event) }),
    });
    const chunks = withStops(streamed, () => readSnapshot(graph, spec, checkpointer, journal));
    const isPointed = spec.stream_mode.includes(CHECKPOINT_POINTERS);
    // Events of transformers are only sent to clients of the streaming protocol.
    if (isPointed)
      transformers = StreamTransformers.start(graph, spec, (said) => journal.event(said));
    for await (const chunk of isPointed ? withPointers(chunks) : chunks) {
      if (chunk.mode === "values" && chunk.namespace.length === 0) {
        // Tasks that stop in the same step send their interrupts separately; the result lists all of them.
        const stopped = interruptsOf(chunk.data);
        interrupts = stopped === null ? null : [...(interrupts ?? []), ...stopped];
        lastValues = interrupts === null ? chunk.data : { __interrupt__: interrupts };
      }
      for (const event of mapper.map(chunk)) {
        const entries = transformers?.pass(chunk, event) ?? [event];
        for (const entry of entries) journal.event(entry);
      }
      await journal.relief();
    }
    await transformers?.finish(interrupts === null ? "completed" : "interrupted", abort.signal);
  } catch (error) {
    transformers?.fail(error);
    if (abort.signal.reason instanceof SupersededError) throw abort.signal.reason;
    const isLate = abort.signal.reason instanceof TimeoutError;
    failure = cancelled ? undefined : isLate ? abort.signal.reason : error;
  } finally {
    clearTimeout(timer);
  }

  let result: string | null = null;
  try {
    if (lastValues !== undefined) {
      const text = toWireJson(lastValues);
      requireMessageSize(messageBytes(text), MAX_VALUES_BYTES);
      result = text;
    }
  } catch (error) {
    failure ??= error;
  }
  // A run that ended by itself shows its last values. For any other outcome the thread's state is read back.
  const clean = failure === undefined && !cancelled && interrupts === null && result !== null;
  const snapshot = clean ? "result" : await readSnapshot(graph, spec, checkpointer, journal);

  if (failure !== undefined) {
    // The caller of the run gets the message; the stack trace is only for the graph's author, in the log.
    console.error(`Run ${spec.run_id} of graph ${spec.graph_id} failed:`, failure);
    const error = describeError(failure);
    journal.event({ event: "error", data: JSON.stringify(error) });
    // A failed run shows no result, and values that were too large to be stored are too large to be sent.
    return { tail: await journal.close(), result: null, snapshot, status: "error", error };
  }
  const tail = await journal.close();
  return { tail, result, snapshot, status: cancelled ? "interrupted" : "success" };
}

type StreamContext = {
  checkpointer: ThreadCheckpointer;
  store: ThreadStore;
  signal: AbortSignal;
  tracer: LangChainTracer | null;
  onRawEvent: (event: unknown) => void;
};

async function* streamGraph(
  graph: Graph,
  spec: RunSpec,
  context: StreamContext,
): AsyncGenerator<GraphChunk> {
  const input = spec.command === null ? spec.input : new Command(toCommand(spec.command));
  const checkpointer = spec.temporary ? new PassingCheckpointer() : context.checkpointer;
  const config = runnableConfig(spec, checkpointer);
  const options = {
    ...config,
    store: context.store,
    signal: context.signal,
    streamMode: graphStreamModes(spec.stream_mode),
    subgraphs: spec.stream_subgraphs,
    durability: spec.durability,
    ...(context.tracer !== null ? { callbacks: [context.tracer] } : {}),
    ...(spec.context !== undefined && spec.context !== null ? { context: spec.context } : {}),
    ...(spec.interrupt_before !== null ? { interruptBefore: spec.interrupt_before } : {}),
    ...(spec.interrupt_after !== null ? { interruptAfter: spec.interrupt_after } : {}),
  };
  // The input of an attempt that continues is already part of the checkpoint it continues from.
  const effectiveInput = spec.resuming ? null : (input ?? null);
  // The option types follow the graph's own type parameters, which are unknown here.
  const run = { input: effectiveInput, options } as { input: never; options: object };
  if (!spec.stream_mode.includes("events")) {
    // With a version, as `streamEvents` sets it, LangGraph emits the checkpoint that the values of subgraphs
    // belong to.
    const version = tellsCheckpoints(spec.stream_mode) ? { version: "v2" } : {};
    const versioned: object = { ...run.options, ...version };
    for await (const item of await graph.stream(run.input, versioned)) {
      yield toChunk(item, spec.stream_subgraphs);
    }
    return;
  }
  for await (const event of graph.streamEvents(run.input, { ...run.options, version: "v2" })) {
    if (event.tags?.includes("langsmith:hidden")) continue;
    const isChunk = event.event === "on_chain_stream" && event.run_id === spec.run_id;
    if (!isChunk) context.onRawEvent(event);
    else yield toChunk(event.data.chunk, spec.stream_subgraphs);
  }
}

function toChunk(item: unknown, subgraphs: boolean): GraphChunk {
  if (!Array.isArray(item)) throw new TypeError("Unexpected item in the graph's stream");
  const [namespace, mode, data]: unknown[] = subgraphs ? item : [[], ...item];
  return {
    namespace: Array.isArray(namespace) ? namespace.filter((part) => part !== "") : [],
    mode: String(mode),
    data,
  };
}

function interruptsOf(values: unknown): unknown[] | null {
  if (typeof values !== "object" || values === null || !("__interrupt__" in values)) return null;
  return Array.isArray(values.__interrupt__) ? values.__interrupt__ : [];
}

async function readSnapshot(
  graph: Graph | undefined,
  spec: RunSpec,
  checkpointer: ThreadCheckpointer,
  journal: RunJournal,
): Promise<ThreadSnapshot | null> {
  if (graph === undefined || spec.temporary) return null;
  try {
    await journal.flush();
    const config = { configurable: { thread_id: spec.thread_id, checkpoint_ns: "" } };
    return toThreadSnapshot(await bindCheckpointer(graph, checkpointer).getState(config));
  } catch (error) {
    if (error instanceof SupersededError) throw error;
    // The outcome matters more than the snapshot: without one the thread keeps showing its former values.
    console.error({ event: "snapshot_failed", run_id: spec.run_id, error: String(error) });
    return null;
  }
}

function describeError(error: unknown): RunError {
  if (!(error instanceof Error)) return { error: "Error", message: safeText(error) };
  return { error: error.name || "Error", message: error.message };
}

function safeText(value: unknown): string {
  try {
    return typeof value === "string" ? value : toWireJson(value);
  } catch {
    // The thrown value itself cannot be serialised; only its type can be reported.
    return `A ${typeof value} was thrown`;
  }
}
