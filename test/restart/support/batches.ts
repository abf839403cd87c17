import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "@langchain/langgraph-sdk";
import type { PlatformProcess } from "./platform-process.ts";

const SIZE = 4;
const PAUSE_MS = 100;

/** Batches of runs that are made one after another while everything is killed. */
export class Batches {
  /** The ids of the runs of each batch that was answered. */
  readonly answered: string[][] = [];
  readonly #url: string;
  readonly #client: Client;
  readonly #webhook: string;

  constructor({ url, client }: Pick<PlatformProcess, "url" | "client">, webhook: string) {
    this.#url = url;
    this.#client = client;
    this.#webhook = webhook;
  }

  /** Goes on until the signal says stop. A batch that a kill meets is not sent again. */
  async make(signal: AbortSignal): Promise<void> {
    for (let batch = 0; !signal.aborted; batch += 1) {
      const runs = await this.#post(batch).catch(() => null);
      if (runs !== null) this.answered.push(runs.map(({ run_id }) => run_id));
      await sleep(PAUSE_MS);
    }
  }

  /** As the SDK does, whose method has no place for `on_completion`. */
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

  /** The runs that there are, of all batches, by what the index of threads tells: each has a thread of its id. */
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
