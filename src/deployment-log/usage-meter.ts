import type { Scope } from "../lib/scope.ts";
import { dayOf } from "../lib/utc-day.ts";
import type { RevisionRef } from "../lib/revision-ref.ts";
import { recordLogs, recordUsage } from "./record.ts";
import { NO_USAGE, USAGE_COUNTS, type UsageOfDay } from "./usage-table.ts";

type Count = Omit<UsageOfDay, "day">;

/** Reads and writes of the platform in a deployment's store and checkpoints. */
export type StorageUse = { operations: number; rows: number; bytes: number };

/** The usage of one revision that has not been written yet. */
type Pending = {
  revision: RevisionRef;
  days: Map<number, Count>;
  /** The number of refusals with each text. */
  refusals: Map<string, number>;
  /** The time for which a request has scheduled the write, in epoch ms. It is lost if that request ends before. */
  dueAt: number;
};

/** Milliseconds for which usage is collected; if the process dies, the usage of that time is lost. */
const GATHER_MS = 2000;
/** A scheduled write that is late by this many milliseconds is taken to be lost. */
const LOST_MS = 5000;
const MAX_REFUSAL_TEXTS = 50;
const MORE_REFUSALS = "Requests to other hosts were refused, too";

/**
 * Shared by the whole isolate: it serves requests of all revisions, and a request has no lasting memory of its
 * own.
 */
const pendings = new Map<string, Pending>();

/** Counts the usage of one revision, and writes it to its deployment's log periodically. */
export class UsageMeter {
  readonly #env: Env;
  readonly #ctx: Pick<ExecutionContext, "waitUntil">;
  readonly #revision: RevisionRef;

  constructor(env: Env, ctx: Pick<ExecutionContext, "waitUntil">, revision: RevisionRef) {
    this.#env = env;
    this.#ctx = ctx;
    this.#revision = revision;
  }

  add(amounts: Partial<Count>): void {
    const count = this.#today();
    for (const name of USAGE_COUNTS) count[name] += amounts[name] ?? 0;
  }

  addStorage({ operations, rows, bytes }: StorageUse): void {
    this.add({ storage_operations: operations, storage_rows: rows, storage_bytes: bytes });
  }

  /** Counts a refused request. The text is logged once per period, with the number of refusals. */
  refuse(text: string): void {
    this.add({ refused: 1 });
    const { refusals } = this.#pending();
    const isNew = !refusals.has(text) && refusals.size >= MAX_REFUSAL_TEXTS;
    const key = isNew ? MORE_REFUSALS : text;
    refusals.set(key, (refusals.get(key) ?? 0) + 1);
  }

  #today(): Count {
    const { days } = this.#pending();
    const day = dayOf(Date.now() * 1000);
    const count = days.get(day) ?? { ...NO_USAGE };
    days.set(day, count);
    return count;
  }

  #pending(): Pending {
    const { workspaceId, deploymentId, revisionId } = this.#revision;
    const key = `${workspaceId}/${deploymentId}/${revisionId}`;
    let pending = pendings.get(key);
    if (pending === undefined) {
      pending = { revision: this.#revision, days: new Map(), refusals: new Map(), dueAt: 0 };
      pendings.set(key, pending);
    }
    const now = Date.now();
    if (now > pending.dueAt + LOST_MS) {
      pending.dueAt = now + GATHER_MS;
      this.#ctx.waitUntil(scheduler.wait(GATHER_MS).then(() => write(this.#env, key)));
    }
    return pending;
  }
}

/** Returns a counter for a deployment's revisions; the graphs that the Worker was built with are not counted. */
export function storageMeter(
  env: Env,
  ctx: Pick<ExecutionContext, "waitUntil">,
  deployment: () => Scope,
): (revisionId: string | null, use: StorageUse) => void {
  return (revisionId, use) => {
    if (revisionId === null) return;
    new UsageMeter(env, ctx, { ...deployment(), revisionId }).addStorage(use);
  };
}

async function write(env: Env, key: string): Promise<void> {
  const pending = pendings.get(key);
  if (pending === undefined) return;
  pendings.delete(key);
  const { revision, days, refusals } = pending;
  const timestamp = Date.now();
  await Promise.all([
    recordUsage(
      env,
      revision,
      [...days].map(([day, count]) => Object.assign({ day }, count)),
    ),
    recordLogs(
      env,
      revision,
      [...refusals].map(([text, times]) => ({
        kind: "server",
        revision_id: revision.revisionId,
        timestamp,
        level: "WARNING",
        message: times === 1 ? text : `${text} (${times} times)`,
      })),
    ),
  ]);
}
