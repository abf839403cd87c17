import assert from "node:assert/strict";
import { ANSWER, CHUNKS_PER_RUN } from "../graphs/expected.ts";

export type RunContext = { token_delay_ms: number; stamp: boolean };
export const AT_FULL_SPEED: RunContext = { token_delay_ms: 0, stamp: false };

/** The observations of a reader of one run's stream, with times in milliseconds. */
export type StreamReport = {
  /** Time from the request to the first event of any kind. */
  firstEventMs: number;
  /** Time from the request to the first chunk of the answer. */
  firstChunkMs: number;
  chunks: number;
  /** Time from the making of each stamped chunk to its arrival here; empty without stamps. */
  chunkDelaysMs: number[];
};

/** One of the systems under comparison. All are driven in the same way, and every method checks its results. */
export interface Side {
  readonly name: string;
  createThreadAndWait(): Promise<void>;
  createThreadAndStream(context: RunContext): Promise<StreamReport>;
  /** Starts runs on one thread as fast as they are accepted. Resolves with the time until the last one ended. */
  queueOnOneThread(runs: number): Promise<number>;
  /** Prepares the side for a measurement, after other sides were measured. */
  settle(): Promise<void>;
  /** Clears what earlier measurements left in memory, if the system can do that. */
  reset(): Promise<void>;
  close(): Promise<void>;
}

export const QUESTION = { role: "user", content: "go" } as const;

type MessageLike = { content: unknown };

export function checkAnswered(values: { messages?: MessageLike[] }): void {
  assert.deepEqual(
    values.messages?.map(({ content }) => content),
    [QUESTION.content, ANSWER],
  );
}

/** Checks that every run's question and answer are in the order in which the runs were created. */
export function checkQueueOrder(values: { messages?: MessageLike[] }, runs: number): void {
  const expected = Array.from({ length: runs }, (_, index) => [queueLabel(index), ANSWER]).flat();
  assert.deepEqual(
    values.messages?.map(({ content }) => content),
    expected,
  );
}

export function queueLabel(index: number): string {
  return `run ${index}`;
}

/** Builds a `StreamReport` from the chunks of one run. */
export class StreamWatch {
  readonly #startedAt = performance.now();
  #firstEventMs: number | undefined;
  #firstChunkMs: number | undefined;
  #chunks = 0;
  readonly #delays: number[] = [];

  event(): void {
    this.#firstEventMs ??= performance.now() - this.#startedAt;
  }

  chunk(content: unknown): void {
    const now = performance.now();
    this.#firstChunkMs ??= now - this.#startedAt;
    this.#chunks += 1;
    if (typeof content === "string" && /^\d+ $/.test(content)) {
      this.#delays.push(performance.timeOrigin + now - Number(content));
    }
  }

  get firstEventMs(): number {
    if (this.#firstEventMs === undefined) throw new Error("The stream was empty");
    return this.#firstEventMs;
  }

  report({ stamp }: RunContext): StreamReport {
    assert.equal(this.#chunks, CHUNKS_PER_RUN);
    assert.equal(this.#delays.length, stamp ? CHUNKS_PER_RUN - 1 : 0);
    if (this.#firstChunkMs === undefined) throw new Error("The stream had no chunk");
    return {
      firstEventMs: this.firstEventMs,
      firstChunkMs: this.#firstChunkMs,
      chunks: this.#chunks,
      chunkDelaysMs: this.#delays,
    };
  }
}
