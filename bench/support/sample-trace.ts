import { type Client, RunTree } from "langsmith";
import { Prose } from "./prose.ts";

/** An event of a run that an application reports to its client, with its time. */
export type TraceEvent = {
  /** Milliseconds since the epoch. */
  at: number;
  kind: "create" | "update";
  send: () => Promise<void>;
};

type TraceOptions = {
  client: Client;
  project: string;
  /** Determines what differs between traces: texts, durations, threads, failures. */
  index: number;
  /** Milliseconds since the epoch. */
  startedAt: number;
  /** Scale of the texts: 1 makes payloads of 1 to 3 KB. */
  scale: number;
};

export const RUNS_PER_TRACE = 3;
/** Names of root runs. */
export const COMMON_NAME = "answer_question";
export const RARE_NAME = "reconcile_ledger";
export const RARE_CUSTOMER = "harbour-museum";

/** The properties of a trace that queries filter by. */
export type TraceTraits = {
  /** Whether its name and its customer are rare. */
  rare: boolean;
  fails: boolean;
  thread: string;
  environment: string;
  customer: string;
};

export function traitsOf(index: number): TraceTraits {
  const rare = index % 64 === 7;
  return {
    rare,
    fails: index % 50 === 0,
    thread: `thread-${Math.floor(index / 5)}`,
    environment: index % 5 === 0 ? "staging" : "production",
    customer: rare ? RARE_CUSTOMER : `customer-${index % 40}`,
  };
}

/**
 * Returns the events of a trace, in which a chain asks a retriever, and then a model with the retrieved documents. All
 * times are synthetic, so that nothing has to wait for them.
 */
function traceEvents({ index, startedAt, scale, ...target }: TraceOptions): TraceEvent[] {
  const prose = new Prose(index);
  const text = (chars: number): string => prose.text(Math.ceil(chars * scale));
  const { rare, fails, thread, environment, customer } = traitsOf(index);
  const question = text(300);
  const documents = Array.from({ length: 3 }, (_, number) => ({
    page_content: text(650),
    metadata: { source: `manual-${prose.below(400)}.md`, chunk: number },
    type: "Document",
  }));
  const answer = text(800);

  const chain = new RunTree({
    start_time: startedAt,
    client: target.client,
    project_name: target.project,
    name: rare ? RARE_NAME : COMMON_NAME,
    run_type: "chain",
    inputs: {
      question,
      history: [
        ["human", text(200)],
        ["ai", text(400)],
      ],
    },
    tags: ["support", index % 2 === 0 ? "even" : "odd"],
    metadata: {
      thread_id: thread,
      environment,
      customer,
      app_version: "2.14.0",
    },
  });
  const searchedAt = startedAt + 4;
  const foundAt = searchedAt + 40 + prose.below(160);
  const search = chain.createChild({
    start_time: searchedAt,
    name: "search_manuals",
    run_type: "retriever",
    inputs: { query: question },
    metadata: { ls_retriever_name: "manuals", ls_vector_store_provider: "Chroma" },
  });
  const calledAt = foundAt + 3;
  const answeredAt = calledAt + 700 + prose.below(2300);
  const model = chain.createChild({
    start_time: calledAt,
    name: "ChatOpenAI",
    run_type: "llm",
    inputs: {
      messages: [
        [
          message("system", `Answer from these documents only. ${documents[0]?.page_content}`),
          message("human", question),
        ],
      ],
    },
    extra: { invocation_params: { model: "gpt-4o-mini", temperature: 0.2, max_tokens: 1024 } },
    metadata: {
      ls_provider: "openai",
      ls_model_name: "gpt-4o-mini",
      ls_model_type: "chat",
      ls_temperature: 0.2,
    },
    tags: ["seq:step:2"],
  });
  const usage = { input_tokens: 400 + prose.below(900), output_tokens: 60 + prose.below(300) };
  const failure = fails ? `RateLimitError: 429 ${text(200)}` : undefined;
  const reply = {
    generations: [[{ text: answer, message: message("ai", answer), type: "ChatGeneration" }]],
    usage_metadata: { ...usage, total_tokens: usage.input_tokens + usage.output_tokens },
  };
  return [
    created(chain, startedAt),
    created(search, searchedAt),
    ended(search, foundAt, { documents }),
    created(model, calledAt),
    ended(model, answeredAt, fails ? undefined : reply, failure),
    ended(chain, answeredAt + 2, fails ? undefined : { answer, sources: 3 }, failure),
  ];
}

/** Returns the events of many traces in the order in which they happen, as in an application under load. */
export function eventsOfTraces(
  options: Omit<TraceOptions, "index" | "startedAt">,
  traces: { count: number; firstStart: number; gapMs: number },
): TraceEvent[] {
  const { count, firstStart, gapMs } = traces;
  return Array.from({ length: count }, (_, index) =>
    traceEvents({ ...options, index, startedAt: firstStart + index * gapMs }),
  )
    .flat()
    .toSorted((left, right) => left.at - right.at);
}

function message(type: string, content: string): object {
  return { lc: 1, type, content, additional_kwargs: {}, response_metadata: {} };
}

function created(run: RunTree, at: number): TraceEvent {
  return { at, kind: "create", send: () => run.postRun() };
}

function ended(
  run: RunTree,
  at: number,
  outputs: Record<string, unknown> | undefined,
  error?: string,
): TraceEvent {
  return {
    at,
    kind: "update",
    send: async () => {
      await run.end(outputs, error, at);
      await run.patchRun();
    },
  };
}
