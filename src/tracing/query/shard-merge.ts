import { findShards, type RunShardRow } from "../../db/run-shards-repo.ts";
import type { RunOrder, RunPosition } from "../model/run-page.ts";
import { refOf, type ShardRef } from "../shard/shard-ref.ts";

/** The runs of one shard, in order. */
export type OrderedSource = {
  /** The next run; undefined if there is none. */
  readonly head: { start_time: number; id: string } | undefined;
};

/** A shard, and the bounds of the start times that it may hold. */
export type Candidate = { ref: ShardRef; first: number; last: number };

const MAX_OPENED_AT_ONCE = 8;

/** Which shards to search: those of all projects unless some are named. Both bounds are inclusive. */
export type ShardRange = {
  workspaceId: string;
  projectIds?: readonly string[] | undefined;
  from: number | undefined;
  to: number | undefined;
  order: RunOrder;
  after: RunPosition | null;
};

/** Returns the shards that may hold such runs, in the order of their runs. */
export async function findCandidates(
  env: Pick<Env, "DB">,
  { workspaceId, projectIds, order, after, ...range }: ShardRange,
  restrict: (rows: RunShardRow[]) => Promise<RunShardRow[]> = (rows) => Promise.resolve(rows),
): Promise<Candidate[]> {
  const descending = order === "desc";
  const from = Math.max(...defined([range.from, descending ? undefined : after?.startTime]));
  const to = Math.min(...defined([range.to, descending ? after?.startTime : undefined]));
  const rows = await findShards(env.DB, workspaceId, {
    projectIds,
    ...(Number.isFinite(from) ? { from } : {}),
    ...(Number.isFinite(to) ? { to } : {}),
  });
  const all = (await restrict(rows)).map((row) => ({
    ref: refOf(row),
    first: row.first_start,
    last: row.last_start,
  }));
  return descending
    ? all.toSorted((left, right) => right.last - left.last)
    : all.toSorted((left, right) => left.first - right.first);
}

/**
 * Merges the runs of shards, ordered by start and then by id. Shards are opened only as far as the reader
 * gets into their days.
 */
export class ShardMerge<Source extends OrderedSource> {
  readonly #pending: Candidate[];
  readonly #order: RunOrder;
  readonly #openSource: (ref: ShardRef) => Promise<Source>;
  #open: Source[] = [];
  #openAtOnce = 1;

  /** `openSource` returns a shard's source with its head loaded. */
  constructor(
    candidates: readonly Candidate[],
    order: RunOrder,
    openSource: (ref: ShardRef) => Promise<Source>,
  ) {
    this.#pending = [...candidates];
    this.#order = order;
    this.#openSource = openSource;
  }

  /** Returns the source whose head is the next run of all; undefined if there is none. */
  async next(): Promise<Source | undefined> {
    for (;;) {
      this.#open = this.#open.filter(({ head }) => head !== undefined);
      const best = this.#first();
      const shard = this.#pending[0];
      if (shard === undefined || this.#isBefore(best?.head, shard)) return best;
      const batch = this.#pending.splice(0, this.#openAtOnce);
      // Empty days are skipped in longer and longer strides.
      this.#openAtOnce = Math.min(this.#openAtOnce * 2, MAX_OPENED_AT_ONCE);
      this.#open.push(...(await Promise.all(batch.map(({ ref }) => this.#openSource(ref)))));
    }
  }

  /** Whether there are, or may be, more runs. */
  get isMore(): boolean {
    return this.#pending.length > 0 || this.#open.some(({ head }) => head !== undefined);
  }

  /** Returns whether a run of this source comes before all runs that other sources have, or may have. */
  precedes(source: Source, run: NonNullable<OrderedSource["head"]>): boolean {
    const shard = this.#pending[0];
    if (shard !== undefined && !this.#isBefore(run, shard)) return false;
    return this.#open.every(
      (other) =>
        other === source || other.head === undefined || comesBefore(run, other.head, this.#order),
    );
  }

  #first(): Source | undefined {
    let first: Source | undefined;
    for (const source of this.#open) {
      const { head } = source;
      if (head === undefined) continue;
      if (first?.head === undefined || comesBefore(head, first.head, this.#order)) first = source;
    }
    return first;
  }

  /** Returns whether a run comes before everything that the shard can hold. */
  #isBefore(run: OrderedSource["head"], shard: Candidate): boolean {
    if (run === undefined) return false;
    return this.#order === "desc" ? run.start_time > shard.last : run.start_time < shard.first;
  }
}

function comesBefore(
  left: NonNullable<OrderedSource["head"]>,
  right: NonNullable<OrderedSource["head"]>,
  order: RunOrder,
): boolean {
  const sign = order === "asc" ? 1 : -1;
  const byTime = left.start_time - right.start_time;
  const difference = byTime === 0 ? (left.id < right.id ? -1 : 1) : byTime;
  return difference * sign < 0;
}

function defined(values: (number | undefined)[]): number[] {
  return values.filter((value) => value !== undefined);
}
