import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "@langchain/langgraph-sdk";
import {
  AT_FULL_SPEED,
  checkAnswered,
  checkQueueOrder,
  QUESTION,
  queueLabel,
  type RunContext,
  type Side,
  type StreamReport,
  StreamWatch,
} from "./side.ts";
import type { StartedServer } from "./server-process.ts";

const GRAPH = "agent";
/** Time for the event loop to notice connections that the server closed while other sides were measured. */
const SETTLE_MS = 20;

type Values = { messages?: { content: unknown }[] };

/** A server that is driven with the official client. */
export class ServerSide implements Side {
  readonly name: string;
  readonly #server: StartedServer;
  readonly #client: Client<Values>;
  readonly #reset: (url: string) => Promise<void>;

  constructor(
    name: string,
    server: StartedServer,
    reset: (url: string) => Promise<void>,
    apiKey: string | null = null,
  ) {
    this.name = name;
    this.#server = server;
    this.#reset = reset;
    this.#client = new Client({
      apiUrl: server.url,
      apiKey,
      // A failing server must fail the benchmark, not slow it down. One retry is for a closed connection.
      callerOptions: { maxRetries: 1 },
    });
  }

  async createThreadAndWait(): Promise<void> {
    const { thread_id } = await this.#client.threads.create();
    const values = await this.#client.runs.wait(thread_id, GRAPH, {
      input: { messages: [QUESTION] },
    });
    checkAnswered(values as Values);
  }

  /** Creates a thread and returns the time to the first event of a stream that ends after it. */
  async createThreadAndAwaitEvent(): Promise<number> {
    const { thread_id } = await this.#client.threads.create();
    const watch = new StreamWatch();
    for await (const { event } of this.#stream(thread_id, AT_FULL_SPEED)) {
      watch.event();
      assert.equal(event, "metadata");
    }
    return watch.firstEventMs;
  }

  async createThreadAndStream(context: RunContext): Promise<StreamReport> {
    const { thread_id } = await this.#client.threads.create();
    const watch = new StreamWatch();
    let values: Values = {};
    for await (const { event, data } of this.#stream(thread_id, context)) {
      watch.event();
      if (event === "messages") watch.chunk(data[0].content);
      else if (event === "values") values = data;
      else assert.equal(event, "metadata");
    }
    if (!context.stamp) checkAnswered(values);
    return watch.report(context);
  }

  #stream(threadId: string, context: RunContext) {
    return this.#client.runs.stream(threadId, GRAPH, {
      input: { messages: [QUESTION] },
      context,
      streamMode: ["messages-tuple", "values"],
    });
  }

  async queueOnOneThread(runs: number): Promise<number> {
    const { thread_id } = await this.#client.threads.create();
    const startedAt = performance.now();
    let last = "";
    for (let index = 0; index < runs; index += 1) {
      const run = await this.#client.runs.create(thread_id, GRAPH, {
        input: { messages: [{ role: "user", content: queueLabel(index) }] },
        multitaskStrategy: "enqueue",
      });
      last = run.run_id;
    }
    await this.#client.runs.join(thread_id, last);
    const elapsed = performance.now() - startedAt;
    const { values } = await this.#client.threads.getState(thread_id);
    checkQueueOrder(values, runs);
    return elapsed;
  }

  async settle(): Promise<void> {
    await sleep(SETTLE_MS);
    await fetch(`${this.#server.url}/ok`).then((response) => response.text());
  }

  reset(): Promise<void> {
    return this.#reset(this.#server.url);
  }

  close(): Promise<void> {
    return this.#server.stop();
  }
}
