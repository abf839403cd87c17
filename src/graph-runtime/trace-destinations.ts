import {
  LangChainTracer,
  type LangChainTracerFields,
} from "@langchain/core/tracers/tracer_langchain";
import type { TraceQueue } from "./trace-queue.ts";

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
export function traceDestinations(queue: TraceQueue): Destinations {
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
