import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "@langchain/langgraph-sdk";
import type { PlatformProcess } from "./platform-process.ts";

const SIZE = 4;
const PAUSE_MS = 100;

/** Creates batches of runs one after another while everything is killed. */
export class Batches {
  /** The run ids of each batch that was answered. */
  readonly answered: string[][] = [];
  readonly #url: string;
  readonly #client: Client;
  readonly #webhook: string;

  constructor({ url, client }: Pick<PlatformProcess, "url" | "client">, webhook: string) {
    this.#url = url;
    this.#client = client;
    this.#webhook = webhook;
  }

  /** Creates batches until the signal is aborted. A batch whose request a kill interrupts is not sent again. */
  async make(signal: AbortSignal): Promise<void> {
    for (let batch = 0; !signal.aborted; batch += 1) {
      const runs = await this.#post(batch).catch(() => null);
      if (runs !== null) this.answered.push(runs.map(({ run_id }) => run_id));
      await sleep(PAUSE_MS);
    }
  }

  /** Sends a batch as the SDK does, whose method has no parameter for `on_completion`. */
  async #post(batch: number): Promise<{ run_id: string }[]> {
    const run = {
      assistant_id: "branching",
      input: {},
      metadata: { made_by: "batches", batch },
      on_completion: "keep",
      webhook: this.#webhook,
    };
    const response = await fetch(`${this.#url}/runs/batch`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(Array.from({ length: SIZE }, () => run)),
    });
    if (!response.ok) throw new Error(`The batch was refused with ${response.status}`);
    return (await response.json()) as { run_id: string }[];
  }

  /** Returns the runs of all batches, from the index of threads: each run has a thread with the run's id. */
  async runIds(): Promise<string[]> {
    const ids: string[] = [];
    for (let offset = 0; ; offset = ids.length) {
      const page = { metadata: { made_by: "batches" }, limit: 1000, offset };
      const threads = await this.#client.threads.search(page);
      if (threads.length === 0) return ids.toSorted();
      ids.push(...threads.map(({ thread_id }) => thread_id));
    }
  }
}
