import { WorkerEntrypoint } from "cloudflare:workers";
import type { RunnableConfig } from "@langchain/core/runnables";
import { type Checkpoint, type CheckpointMetadata, MemorySaver } from "@langchain/langgraph";
import { type BoundRun, boundRun, valuesOf, writeEvents } from "../bound-graph.ts";
import type { RunEnd, RunPort, RunStart, StoredCheckpoint } from "./run-port.ts";
import { RunTrace } from "./run-trace.ts";

/** How long checkpoints may wait for more of them: as long as in the platform. */
const COMMIT_DELAY_MS = 20;

/** Runs the benchmark's graph, and hands its checkpoints and its trace to the thread. */
export class PromisesGraphs extends WorkerEntrypoint {
  async wait(start: RunStart, port: RunPort): Promise<RunEnd> {
    const { run, saver, trace } = begin(start, port);
    const values = await valuesOf(run);
    this.ctx.waitUntil(port.trace(trace.runs));
    return { values, checkpoints: await saver.rest() };
  }

  stream(start: RunStart, port: RunPort): ReadableStream<Uint8Array> {
    const { readable, writable } = new IdentityTransformStream();
    // The port that came with the call is closed when the call returns.
    const kept = (port as RunPort & { dup: () => RunPort }).dup();
    this.ctx.waitUntil(this.#write(start, kept, writable.getWriter()));
    return readable;
  }

  async #write(
    start: RunStart,
    port: RunPort,
    to: WritableStreamDefaultWriter<Uint8Array>,
  ): Promise<void> {
    const { run, saver, trace } = begin(start, port);
    const values = await writeEvents(run, to);
    await port.end({ values, checkpoints: await saver.rest() });
    await to.close();
    await port.trace(trace.runs);
  }
}

function begin(
  { thread_id, run_id, input, newest }: RunStart,
  port: RunPort,
): { run: BoundRun; saver: KeptCheckpoints; trace: RunTrace } {
  const saver = new KeptCheckpoints(thread_id, newest, (checkpoints) => port.keep(checkpoints));
  const trace = new RunTrace();
  const config = { configurable: { thread_id }, runId: run_id, callbacks: [trace.tracer] };
  return { run: boundRun(input === null ? null : JSON.parse(input), saver, config), saver, trace };
}

/** Keeps the checkpoints of the run in memory, and hands each to the thread soon after it was made. */
class KeptCheckpoints extends MemorySaver {
  readonly #keep: (checkpoints: StoredCheckpoint[]) => Promise<void>;
  readonly #threadId: string;
  #waiting: StoredCheckpoint[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #keeping: Promise<void> = Promise.resolve();

  constructor(
    threadId: string,
    newest: StoredCheckpoint | null,
    keep: (checkpoints: StoredCheckpoint[]) => Promise<void>,
  ) {
    super();
    this.#threadId = threadId;
    this.#keep = keep;
    if (newest === null) return;
    const { id, checkpoint, metadata } = newest;
    const stored: [Uint8Array, Uint8Array, undefined] = [
      new Uint8Array(checkpoint),
      new Uint8Array(metadata),
      undefined,
    ];
    this.storage[threadId] = { "": { [id]: stored } };
  }

  override async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
  ): Promise<RunnableConfig> {
    const put = await super.put(config, checkpoint, metadata);
    const stored = this.storage[this.#threadId]?.[""]?.[checkpoint.id];
    if (stored === undefined) throw new Error("The benchmark's graph has no subgraphs");
    this.#waiting.push({ id: checkpoint.id, checkpoint: stored[0], metadata: stored[1] });
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#keeping = this.#keep(this.#waiting.splice(0));
    }, COMMIT_DELAY_MS);
    return put;
  }

  /** Returns the checkpoints that the thread does not have yet, for the end of the run. */
  async rest(): Promise<StoredCheckpoint[]> {
    clearTimeout(this.#timer);
    await this.#keeping;
    return this.#waiting;
  }
}
