import { MemorySaver } from "@langchain/langgraph";
import { graph } from "../graphs/agent.ts";
import {
  checkAnswered,
  checkQueueOrder,
  QUESTION,
  queueLabel,
  type RunContext,
  type Side,
  type StreamReport,
  StreamWatch,
} from "./side.ts";

/**
 * Runs the graph in this process with LangGraph's in-memory checkpointer. There is no server, and
 * nothing is stored.
 */
export class BareSide implements Side {
  readonly name = "bare";
  #threads = 0;

  constructor() {
    graph.checkpointer = new MemorySaver();
  }

  async createThreadAndWait(): Promise<void> {
    checkAnswered(await graph.invoke({ messages: [QUESTION] }, this.#newThread()));
  }

  async createThreadAndStream(context: RunContext): Promise<StreamReport> {
    const config = { ...this.#newThread(), context };
    const watch = new StreamWatch();
    const stream = await graph.stream(
      { messages: [QUESTION] },
      { ...config, streamMode: ["messages", "values"] },
    );
    let values: Parameters<typeof checkAnswered>[0] = {};
    for await (const [mode, data] of stream) {
      watch.event();
      if (mode === "messages") watch.chunk(data[0].content);
      else values = data;
    }
    if (!context.stamp) checkAnswered(values);
    return watch.report(context);
  }

  async queueOnOneThread(runs: number): Promise<number> {
    const config = this.#newThread();
    const startedAt = performance.now();
    for (let index = 0; index < runs; index += 1) {
      await graph.invoke({ messages: [{ role: "user", content: queueLabel(index) }] }, config);
    }
    const elapsed = performance.now() - startedAt;
    checkQueueOrder((await graph.getState(config)).values, runs);
    return elapsed;
  }

  async settle(): Promise<void> {}

  async reset(): Promise<void> {
    graph.checkpointer = new MemorySaver();
  }

  async close(): Promise<void> {}

  #newThread(): { configurable: { thread_id: string } } {
    this.#threads += 1;
    return { configurable: { thread_id: String(this.#threads) } };
  }
}
