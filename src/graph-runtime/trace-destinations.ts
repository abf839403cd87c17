import {
  LangChainTracer,
  type LangChainTracerFields,
} from "@langchain/core/tracers/tracer_langchain";
import { withoutHidden } from "./hidden-values.ts";
import type { TraceQueue } from "./trace-queue.ts";

type Client = NonNullable<LangChainTracerFields["client"]>;

type TracedCreate = Parameters<Client["createRun"]>[0];

type TracedUpdate = Parameters<Client["updateRun"]>[1];

type Destinations = Pick<LangChainTracerFields, "client" | "replicas">;

/** The address of the replica that a write is for; absent when it is for the tracer's own client. */
type WriteOptions = { apiUrl?: string };

/** LangSmith's client. Both methods accept a replica's address, although the interface does not declare it. */
type AddressedClient = {
  createRun: (run: TracedCreate, to?: WriteOptions) => Promise<void>;
  updateRun: (id: string, run: TracedUpdate, to?: WriteOptions) => Promise<void>;
};

/**
 * Writes to the project's own destination. A run does not wait for them: LangSmith's client answers that of the root
 * when the whole trace has arrived, or when its retries have failed after more than a minute.
 */
export class PendingWrites {
  readonly #writes = new Set<Promise<void>>();

  add(write: Promise<void>): void {
    const ended = write
      .catch((error: unknown) => {
        console.error({ event: "project_trace_lost", error: String(error) });
      })
      .finally(() => this.#writes.delete(ended));
    this.#writes.add(ended);
  }

  /** Resolves when no write is pending. Never rejects. */
  async ended(): Promise<void> {
    while (this.#writes.size > 0) await Promise.all(this.#writes);
  }
}

/**
 * Returns the destinations of the trace: the queue, if the platform traces the run, and the destination configured in
 * the project's environment, if that requests tracing. LangChain would not add a tracer of its own, because one is
 * already present.
 */
export function traceDestinations(queue: TraceQueue | null, others: PendingWrites): Destinations {
  const requested = isTracedElsewhere() ? new LangChainTracer() : null;
  const theirs: AddressedClient | undefined = requested?.client;
  const elsewhere = requested === null ? [] : replicasOf(requested);
  // A replica without an address: without any, LangChain would take replicas from the environment.
  const replicas = queue === null ? elsewhere : [...elsewhere, {}];
  const isOurs = (to?: WriteOptions): boolean => to?.apiUrl === undefined;
  const isTheirs = (to?: WriteOptions): boolean => elsewhere.length === 0 || !isOurs(to);
  const client: AddressedClient = {
    // LangSmith's client mutates the runs that it is given.
    createRun: async (run: TracedCreate, to?: WriteOptions) => {
      if (isOurs(to)) queue?.post(withoutHidden(run));
      if (theirs && isTheirs(to)) others.add(theirs.createRun({ ...run }, to));
    },
    updateRun: async (id: string, run: TracedUpdate, to?: WriteOptions) => {
      if (isOurs(to)) queue?.patch(id, withoutHidden(run));
      if (theirs && isTheirs(to)) others.add(theirs.updateRun(id, { ...run }, to));
    },
  };
  return replicas.length > 0 && takesAddresses(client) ? { client, replicas } : { client };
}

let addressed: boolean | undefined;

/**
 * Returns whether replicas have addresses in the project's version of `langsmith`. Older ones, such as 0.3.40, take each
 * replica as a pair that names a project, fail on any other, and read none from the environment.
 */
function takesAddresses(client: Client): boolean {
  if (addressed === undefined) {
    const [replica] = replicasOf(new LangChainTracer({ client, replicas: [["probe", undefined]] }));
    addressed = !Array.isArray(replica);
  }
  return addressed;
}

const TRACING_VARIABLES = [
  "LANGSMITH_TRACING_V2",
  "LANGCHAIN_TRACING_V2",
  "LANGSMITH_TRACING",
  "LANGCHAIN_TRACING",
] as const;

/** Returns whether the project's environment requests traces, at a destination of its own. */
export function isTracedElsewhere(): boolean {
  return TRACING_VARIABLES.some((name) => process.env[name] === "true");
}

/** Returns a tracer's replicas; if it was given none, those that LANGSMITH_RUNS_ENDPOINTS names. */
function replicasOf(tracer: LangChainTracer): NonNullable<LangChainTracerFields["replicas"]> {
  // The oldest versions know no replicas.
  if (!("getRunTreeWithTracingConfig" in tracer)) return [];
  const id = crypto.randomUUID();
  tracer._createRunForChainStart({ lc: 1, type: "not_implemented", id: ["probe"] }, {}, id);
  return tracer.getRunTreeWithTracingConfig(id)?.replicas ?? [];
}
