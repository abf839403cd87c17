import type { RunShardRow } from "../../db/run-shards-repo.ts";
import type { PayloadField } from "../run-write.ts";
import type { RunOrder, RunPosition, RunRecord } from "../run-shard/run-record.ts";
import { type ShardEnv, type ShardRef, shardStub } from "../run-shard/shard-ref.ts";
import type { KnownTraces, RunSelection } from "./selection.ts";

const MAX_PAGE_BYTES = 4 * 1024 * 1024;

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
  readonly #known: KnownTraces | undefined;
  #after: RunPosition | null;
  #buffer: RunRecord[] = [];
  #next = 0;
  #ended = false;

  constructor(env: ShardEnv, ref: ShardRef, query: SourceQuery, known: KnownTraces | undefined) {
    this.ref = ref;
    this.#env = env;
    this.#query = query;
    this.#known = known;
    this.#after = query.after;
  }

  /** The next run, without taking it; undefined when there is none. Call `fill` first. */
  get head(): RunRecord | undefined {
    return this.#buffer[this.#next];
  }

  take(): PlacedRun | undefined {
    const run = this.head;
    if (run === undefined) return undefined;
    this.#next += 1;
    return { run, ref: this.ref };
  }

  /** Reads at most `limit` runs when none is left in the buffer. */
  async fill(limit: number): Promise<void> {
    const { selection, order, payloads } = this.#query;
    while (this.head === undefined && !this.#ended) {
      const page = await shardStub(this.#env, this.ref).page(
        selection,
        { order, after: this.#after, limit, maxBytes: MAX_PAGE_BYTES, payloads },
        this.#known,
      );
      this.#buffer = page.runs;
      this.#next = 0;
      this.#after = page.next;
      this.#ended = page.next === null;
    }
  }
}

export function refOf(row: RunShardRow): ShardRef {
  return {
    workspaceId: row.workspace_id,
    projectId: row.project_id,
    day: row.day,
    bucket: row.bucket,
  };
}
