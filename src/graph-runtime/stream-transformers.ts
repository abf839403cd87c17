import type {
  ProtocolEvent as HeardEvent,
  StreamChannel,
  StreamTransformer,
} from "@langchain/langgraph";
import { isObject } from "../lib/json.ts";
import { withTimeout } from "../lib/with-timeout.ts";
import type { Graph } from "./graph-registry.ts";
import { messageBytes, requireMessageSize } from "./message-size.ts";
import type { RunEvent } from "./protocol.ts";
import { heardOf, heardOfChunk, toldOf } from "./stream-protocol/heard-events.ts";
import { type ProtocolEvent, TOLD_EVENT, TOLD_INSTEAD } from "./stream-protocol/protocol-event.ts";
import { RunTranslator } from "./stream-protocol/run-translator.ts";
import type { GraphChunk } from "./stream-events.ts";
import { toWireJson } from "./wire-json.ts";
import { messageOf } from "../lib/error-text.ts";

/** How long a run waits at its end for the final values of its transformers, in milliseconds. */
const FINAL_VALUES_MS = 5000;

type Transformer = StreamTransformer & { __native?: boolean };

type Channel = Pick<StreamChannel<unknown>, "_close" | "_fail">;

/** A value that a transformer provides at the end of the run. */
type FinalValue = { of: Transformer; name: string; value: Promise<unknown> };

type RunIds = { run_id: string; graph_id: string };

type Log = (event: RunEvent) => void;

/**
 * The stream transformers of a graph (`compile({ transformers })`) during one attempt of a run. They receive
 * the events that LangGraph would pass to them in its own process, and the events they add go into the run's
 * log. A transformer that throws is stopped, and the run continues without it.
 */
export class StreamTransformers {
  readonly #run: RunIds;
  readonly #log: Log;
  readonly #translator: RunTranslator;
  readonly #running = new Set<Transformer>();
  readonly #channels: Channel[] = [];
  readonly #finals: FinalValue[] = [];
  /**
   * The namespace of the event that transformers are processing; what they write meanwhile gets the same
   * namespace.
   */
  #namespace: string[] = [];
  /** While a chunk is processed: the events that transformers add, which are logged after it. */
  #said: RunEvent[] | null = null;
  #seq = 0;
  #isOver = false;

  private constructor({ run_id, graph_id }: RunIds, log: Log) {
    this.#run = { run_id, graph_id };
    this.#log = log;
    this.#translator = new RunTranslator({ run_id, graph_id, answers: [] });
  }

  /** Returns null when the graph has no transformers with an effect that clients could notice. */
  static start(graph: Graph, run: RunIds, log: Log): StreamTransformers | null {
    // Older releases of LangGraph have no transformers.
    const factories: unknown = Reflect.get(graph, "streamTransformers");
    if (!Array.isArray(factories) || factories.length === 0) return null;
    const transformers = new StreamTransformers(run, log);
    for (const factory of factories) transformers.#add(factory);
    if (transformers.#running.size === 0) return null;
    const begun = transformers.#translator.translate({ event: "metadata", data: "{}" });
    for (const event of begun) transformers.#hear(heardOf(event));
    return transformers;
  }

  /** Passes a chunk of the graph's stream to the transformers, and returns the entries to log for it. */
  pass(chunk: GraphChunk, logged: RunEvent): RunEvent[] {
    const said: RunEvent[] = [];
    this.#said = said;
    const told = this.#translator.translate(logged);
    let isKept: boolean | undefined;
    const keepsChunk = (): boolean => (isKept ??= this.#hear(heardOfChunk(chunk)));
    const kept = told.filter((event) => {
      if (event.method === "lifecycle" || event.method === "messages") {
        return this.#hear(heardOf(event));
      }
      const keeps = keepsChunk();
      // Without this event, a client could never answer the interrupt.
      return keeps || event.method === "input.requested";
    });
    if (chunk.mode !== "messages") keepsChunk();
    this.#said = null;
    if (kept.length === told.length) return [logged, ...said];
    return [{ event: TOLD_INSTEAD, data: JSON.stringify(kept) }, logged, ...said];
  }

  /** Called when the graph has ended or was interrupted. Waits a bounded time for final values. */
  async finish(status: "completed" | "interrupted", signal: AbortSignal): Promise<void> {
    this.#end({ event: status });
    const work: Promise<unknown>[] = [...this.#running].map((each) =>
      // A rejection has already stopped the transformer.
      Promise.resolve(this.#attempt(each, () => each.finalize?.())).catch(() => {}),
    );
    for (const channel of this.#channels) channel._close();
    for (const { of, name, value } of this.#finals) {
      const tell = (payload: unknown): void =>
        this.#tell(of, { method: "custom", namespace: [], data: { name, payload } });
      // A final value that rejects is not sent, as in LangGraph itself.
      if (this.#running.has(of)) work.push(value.then(tell, () => {}));
    }
    const left = Promise.withResolvers<void>();
    signal.addEventListener("abort", () => left.resolve(), { once: true });
    if (signal.aborted) left.resolve();
    await withTimeout(FINAL_VALUES_MS, Promise.race([Promise.all(work), left.promise]), () => {
      const { run_id, graph_id } = this.#run;
      const waited = `${FINAL_VALUES_MS} ms after the end of run ${run_id}`;
      console.warn(`Stream transformers of graph ${graph_id} had more to say ${waited}`);
    });
    this.#isOver = true;
  }

  /** Called when the graph has thrown or was cancelled. */
  fail(error: unknown): void {
    const message = messageOf(error);
    this.#end({ event: "failed", error: message });
    for (const each of this.#running) this.#attempt(each, () => each.fail?.(error));
    for (const channel of this.#channels) channel._fail(error);
    this.#isOver = true;
  }

  #add(factory: () => Transformer): void {
    let transformer: Transformer;
    try {
      transformer = factory();
    } catch (error) {
      this.#report(error);
      return;
    }
    // The transformers of `createAgent` provide `run.toolCalls` and `run.subagents` to callers in the same
    // process; there are none here.
    const isNative = transformer.__native === true;
    if (isNative && transformer.onRegister === undefined) return;
    this.#running.add(transformer);
    this.#attempt(transformer, () => {
      transformer.onRegister?.({ push: (_namespace, event) => this.#push(transformer, event) });
      const projection = transformer.init();
      if (!isNative && isObject(projection)) this.#wire(transformer, projection);
    });
  }

  #wire(of: Transformer, projection: Record<string, unknown>): void {
    for (const [name, value] of Object.entries(projection)) {
      if (isChannel(value)) {
        this.#channels.push(value);
        const { channelName } = value;
        if (typeof channelName !== "string") continue;
        value._wire((payload) => {
          const data = { name: channelName, payload };
          this.#tell(of, { method: "custom", namespace: this.#namespace, data });
        });
      } else if (isPromise(value)) {
        const settled = Promise.resolve(value);
        // Without a handler, a rejection would be reported as unhandled until something awaits the value.
        settled.catch(() => {});
        this.#finals.push({ of, name, value: settled });
      }
    }
  }

  /** Handles an event that a transformer created: all transformers receive it, and it is logged for clients. */
  #push(of: Transformer, event: HeardEvent): void {
    if (!this.#running.has(of) || this.#isOver) return;
    if (this.#hear(event)) this.#attempt(of, () => this.#tell(of, toldOf(event)));
  }

  /** Passes the event to all transformers. Returns false when any of them filters it out. */
  #hear(event: HeardEvent): boolean {
    const around = this.#namespace;
    this.#namespace = event.params.namespace;
    const heard = { ...event, seq: this.#seq };
    this.#seq += 1;
    let isKept = true;
    for (const each of this.#running) {
      if (this.#attempt(each, () => each.process(heard)) === false) isKept = false;
    }
    this.#namespace = around;
    return isKept;
  }

  #end(end: { event: "completed" | "interrupted" | "failed"; error?: string }): void {
    for (const event of this.#translator.end(end)) this.#hear(heardOf(event));
  }

  /** Writes an event into the log. Never throws, because the project's code calls it too. */
  #tell(of: Transformer, event: ProtocolEvent): void {
    if (!this.#running.has(of) || this.#isOver) return;
    let told: RunEvent;
    try {
      const data = toWireJson(event);
      requireMessageSize(messageBytes(data));
      told = { event: TOLD_EVENT, data };
    } catch (error) {
      this.#stop(of, error);
      return;
    }
    const begun = this.#translator.translate(told).filter(({ method }) => method === "lifecycle");
    if (this.#said === null) this.#log(told);
    else this.#said.push(told);
    for (const each of begun) this.#hear(heardOf(each));
  }

  /**
   * Returns the result of the transformer's code, or undefined when it threw. A rejected promise stops the
   * transformer too.
   */
  #attempt<T>(of: Transformer, work: () => T): T | undefined {
    try {
      const result = work();
      if (isPromise(result)) {
        Promise.resolve(result).catch((error: unknown) => this.#stop(of, error));
      }
      return result;
    } catch (error) {
      this.#stop(of, error);
      return undefined;
    }
  }

  #stop(transformer: Transformer, error: unknown): void {
    if (this.#running.delete(transformer)) this.#report(error);
  }

  /** Logs the error for the author of the transformer. */
  #report(error: unknown): void {
    const { run_id, graph_id } = this.#run;
    console.error(`A stream transformer of graph ${graph_id} was stopped in run ${run_id}:`, error);
  }
}

/** Checks for LangGraph's own mark and not the class, of which a project may have a different copy. */
function isChannel(value: unknown): value is StreamChannel<unknown> {
  return (
    typeof value === "object" &&
    value !== null &&
    Reflect.get(value, Symbol.for("langgraph.stream_channel")) === true
  );
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return (
    typeof value === "object" && value !== null && typeof Reflect.get(value, "then") === "function"
  );
}
