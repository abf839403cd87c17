import type { TraceBatch } from "./protocol.ts";
import { MAX_VALUE_CHARS, traceValueJson } from "./trace-json.ts";

/** A batch is sent once it has this many operations or characters, or after this many milliseconds. */
const BATCH_OPERATIONS = 100;
const BATCH_CHARS = 1024 * 1024;
const BATCH_DELAY_MS = 250;

/**
 * When the recorder is slow and more characters than this are waiting, further runs are recorded without
 * their values.
 */
const MAX_WAITING_CHARS = 8 * 1024 * 1024;

/** When more characters than this are waiting, further operations are dropped. */
const MAX_WAITING_CHARS_WITHOUT_VALUES = 2 * MAX_WAITING_CHARS;

/** The fields that identify a run and its position in its trace. */
const IDENTITY_FIELDS = [
  "id",
  "trace_id",
  "parent_run_id",
  "dotted_order",
  "name",
  "run_type",
  "start_time",
] as const;

/** Fields that are always recorded; `extra` holds the metadata that runs are found by. */
const OTHER_FIELDS = ["end_time", "error", "tags", "reference_example_id", "extra"] as const;

/** The fields with a run's inputs and results, which are left out first when too much is waiting. */
const VALUE_FIELDS = ["inputs", "outputs", "events", "serialized"] as const;

const FIELDS = [...IDENTITY_FIELDS, ...OTHER_FIELDS, ...VALUE_FIELDS] as const;

type Field = (typeof FIELDS)[number];

/** The run types that the API accepts; `traceable` accepts any string. */
const RUN_TYPES = new Set<unknown>([
  "tool",
  "chain",
  "llm",
  "retriever",
  "embedding",
  "prompt",
  "parser",
]);

/** A run as a tracing client receives it; it may have more fields than are recorded. */
export type TracedRun = { [name in Field]?: unknown };

type Kind = "post" | "patch";

/** A create or an update that has not been sent yet, each field as JSON text. */
type Operation = { kind: Kind; id: string; fields: Map<Field, string>; chars: number };

/**
 * The creates and updates of a trace that are waiting to leave the graph's isolate. Values are serialised
 * when they arrive, since graph code may change them later. An update is merged into a create of the same run
 * that is still waiting. The graph never awaits anything here; nothing here throws, or holds more than the
 * bounds above.
 */
export class TraceQueue {
  readonly #send: (batch: TraceBatch) => Promise<void>;
  #waiting: Operation[] = [];
  #waitingChars = 0;
  /** The waiting operation of each run. */
  readonly #byRun = new Map<string, Operation>();
  /** The runs that have not ended. */
  readonly #open = new Map<string, TracedRun>();
  readonly #flights = new Set<Promise<void>>();
  #timer: ReturnType<typeof setTimeout> | null = null;
  #lost = 0;
  #lossReason = "too much was waiting";
  #closed = false;

  /** `send` may take any time, and may reject; the batch is then lost. */
  constructor(send: (batch: TraceBatch) => Promise<void>) {
    this.#send = send;
  }

  post(run: TracedRun): void {
    this.#record("post", run);
  }

  patch(id: string, run: TracedRun): void {
    this.#record("patch", { ...run, id });
  }

  /**
   * Ends the runs that are still open with an error, and sends everything that waits. Resolves when all of it
   * has arrived or is lost; later operations are ignored.
   */
  async close(): Promise<void> {
    const open = [...this.#open.values()];
    // This makes room for the updates that end the open runs.
    if (open.length > 0) this.#dispatchAll();
    const end_time = new Date().toISOString();
    for (const run of open) {
      this.#record("patch", { ...run, end_time, error: "It had not ended when its run did." });
    }
    this.#closed = true;
    this.#stopTimer();
    this.#dispatchAll();
    await Promise.all(this.#flights);
    if (this.#lost === 0) return;
    console.error({ event: "trace_lost", operations: this.#lost, error: this.#lossReason });
  }

  #record(kind: Kind, run: TracedRun): void {
    const { id } = run;
    if (this.#closed || typeof id !== "string") return;
    this.#keepOpen(id, run);
    if (this.#waitingChars > MAX_WAITING_CHARS_WITHOUT_VALUES) {
      this.#lost += 1;
      return;
    }
    const waiting = this.#byRun.get(id);
    const fields = this.#toJson(run);
    const chars = charsOf(fields);
    if (waiting !== undefined && waiting.chars + chars <= BATCH_CHARS) {
      for (const [name, json] of fields) waiting.fields.set(name, json);
      this.#waitingChars -= waiting.chars;
      waiting.chars = charsOf(waiting.fields);
      this.#waitingChars += waiting.chars;
    } else {
      const operation = { kind, id, fields, chars };
      this.#byRun.set(id, operation);
      this.#waiting.push(operation);
      this.#waitingChars += chars;
    }
    this.#schedule();
  }

  #keepOpen(id: string, run: TracedRun): void {
    if (run.end_time !== undefined && run.end_time !== null) this.#open.delete(id);
    else if (!this.#open.has(id)) this.#open.set(id, identityOf(run));
  }

  #toJson(run: TracedRun): Map<Field, string> {
    const fields = new Map<Field, string>();
    let chars = 0;
    for (const name of FIELDS) {
      const value = recordedValue(run, name);
      if (value === undefined) continue;
      const json = this.#fieldJson(name, value, chars);
      if (json === undefined) continue;
      fields.set(name, json);
      chars += json.length;
    }
    return fields;
  }

  /**
   * Returns the JSON text of a field, or undefined to leave it out. `chars` is the length of the run's other
   * fields.
   */
  #fieldJson(name: Field, value: unknown, chars: number): string | undefined {
    const isValue = (VALUE_FIELDS as readonly string[]).includes(name);
    if (isValue && this.#waitingChars > MAX_WAITING_CHARS) {
      return substitute(name, "too much of its trace was waiting");
    }
    const json = traceValueJson(value);
    if (json === undefined) return undefined;
    if (typeof json !== "string") return substitute(name, json.unrecorded);
    if (chars + json.length > MAX_VALUE_CHARS) return substitute(name, "the run is too large");
    return json;
  }

  #schedule(): void {
    if (this.#closed || this.#flights.size > 0) return;
    if (this.#waiting.length >= BATCH_OPERATIONS || this.#waitingChars >= BATCH_CHARS) {
      this.#stopTimer();
      this.#dispatch();
      return;
    }
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      if (this.#flights.size === 0) this.#dispatch();
    }, BATCH_DELAY_MS);
  }

  #stopTimer(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  #dispatchAll(): void {
    while (this.#waiting.length > 0) this.#dispatch();
  }

  #dispatch(): void {
    const batch = this.#take();
    const flight = this.#deliver(batch);
    this.#flights.add(flight);
    void flight.finally(() => {
      this.#flights.delete(flight);
      if (this.#waiting.length > 0) this.#schedule();
    });
  }

  /** Sends a batch. Never rejects: a failure is counted as lost operations. */
  async #deliver(batch: TraceBatch): Promise<void> {
    try {
      await this.#send(batch);
    } catch (error) {
      this.#lost += batch.operations;
      this.#lossReason = String(error);
    }
  }

  /** Removes and returns the oldest waiting operations, at least one. */
  #take(): TraceBatch {
    const taken: Operation[] = [];
    let chars = 0;
    for (const operation of this.#waiting) {
      const isFull = taken.length === BATCH_OPERATIONS || chars + operation.chars > BATCH_CHARS;
      if (taken.length > 0 && isFull) break;
      taken.push(operation);
      chars += operation.chars;
    }
    this.#waiting = this.#waiting.slice(taken.length);
    this.#waitingChars -= chars;
    for (const operation of taken) {
      if (this.#byRun.get(operation.id) === operation) this.#byRun.delete(operation.id);
    }
    const json = `{"post":[${textOf(taken, "post")}],"patch":[${textOf(taken, "patch")}]}`;
    return { json, operations: taken.length };
  }
}

function identityOf(run: TracedRun): TracedRun {
  return Object.fromEntries(IDENTITY_FIELDS.map((name) => [name, run[name]]));
}

function recordedValue(run: TracedRun, name: Field): unknown {
  const value = run[name];
  if (name === "events") return withoutTokens(value);
  if (name === "run_type" && value !== undefined && !RUN_TYPES.has(value)) return "chain";
  return value;
}

/** Reduces token events to their name and time: the streamed text is in the outputs. */
function withoutTokens(events: unknown): unknown {
  if (!Array.isArray(events)) return events;
  return events.map((event: unknown) => {
    const isToken = typeof event === "object" && event !== null && "name" in event;
    if (!isToken || event.name !== "new_token") return event;
    return { name: event.name, time: Reflect.get(event, "time") };
  });
}

/** Returns the replacement of a value that is not recorded: readers expect inputs and outputs to be objects. */
function substitute(name: Field, reason: string): string | undefined {
  if (name !== "inputs" && name !== "outputs") return undefined;
  return JSON.stringify({ not_recorded: reason });
}

function charsOf(fields: ReadonlyMap<Field, string>): number {
  let chars = 2;
  for (const [name, json] of fields) chars += name.length + json.length + 4;
  return chars;
}

function textOf(operations: readonly Operation[], kind: Kind): string {
  return operations
    .filter((operation) => operation.kind === kind)
    .map(({ fields }) => `{${[...fields].map(([name, json]) => `"${name}":${json}`).join(",")}}`)
    .join(",");
}
