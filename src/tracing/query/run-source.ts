import type { PayloadField } from "../model/run-write.ts";
import type { RunOrder, RunPosition, RunRecord } from "../model/run-page.ts";
import { type ShardEnv, type ShardRef, shardStub } from "../shard/shard-ref.ts";
import type { RunSelection } from "../shard/selection.ts";
import type { Turns } from "./turns.ts";
import type { KnownTraces } from "../filter/filter.ts";

const MAX_PAGE_BYTES = 4 * 1024 * 1024;

const FIRST_EFFORT = 1 / 16;

export type SourceQuery = {
  selection: RunSelection;
  order: RunOrder;
  after: RunPosition | null;
  payloads: readonly PayloadField[];
};

/** A run and the shard that it came from. */
export type PlacedRun = { run: RunRecord; ref: ShardRef };

/** The selected runs of one shard, in order, read page by page. */
export class RunSource {
  readonly ref: ShardRef;
  readonly #env: ShardEnv;
  readonly #query: SourceQuery;
  readonly #turns: Turns;
  readonly #known: KnownTraces | undefined;
  #after: RunPosition | null;
  #buffer: RunRecord[] = [];
  #next = 0;
  /** Most pages are found with little work; after pages that found nothing, more work is allowed. */
  #effort = FIRST_EFFORT;
  #ended = false;

  constructor(
    env: ShardEnv,
    ref: ShardRef,
    query: SourceQuery,
    turns: Turns,
    known: KnownTraces | undefined,
  ) {
    this.ref = ref;
    this.#env = env;
    this.#query = query;
    this.#turns = turns;
    this.#known = known;
    this.#after = query.after;
  }

  /** The next run, without taking it; undefined if there is none. Call `fill` first. */
  get head(): RunRecord | undefined {
    return this.#buffer[this.#next];
  }

  take(): PlacedRun | undefined {
    const run = this.head;
    if (run === undefined) return undefined;
    this.#next += 1;
    return { run, ref: this.ref };
  }

  /** Reads at most `limit` runs if the buffer is empty. */
  async fill(limit: number): Promise<void> {
    const { selection, order, payloads } = this.#query;
    const maxBytes = MAX_PAGE_BYTES;
    while (this.head === undefined && !this.#ended) {
      const page = await shardStub(this.#env, this.ref).page(
        selection,
        { order, after: this.#after, limit, maxBytes, payloads, effort: this.#effort },
        this.#known,
      );
      this.#buffer = page.runs;
      this.#next = 0;
      this.#after = page.next;
      this.#ended = page.next === null;
      if (this.#ended || page.runs.length > 0) continue;
      await this.#turns.spend();
      this.#effort = Math.min(this.#effort * 2, 1);
    }
  }
}
