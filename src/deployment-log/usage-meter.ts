import type { Scope } from "../lib/scope.ts";
import { dayOf } from "../lib/utc-day.ts";
import type { RevisionRef } from "../lib/revision-ref.ts";
import { recordLogs, recordUsage } from "./record.ts";
import { NO_USAGE, USAGE_COUNTS, type UsageOfDay } from "./usage-table.ts";

type Count = Omit<UsageOfDay, "day">;

/** What the platform read and wrote in its store and its checkpoints. */
export type StorageUse = { operations: number; rows: number; bytes: number };

/** What one revision did since it was last written down. */
type Pending = {
  revision: RevisionRef;
  days: Map<number, Count>;
  /** How many refusals each text stands for. */
  refusals: Map<string, number>;
  /** When somebody has promised to write it down; that promise can be lost with its request. */
  dueAt: number;
};

/** How long numbers and refusals gather; a process that dies loses those of this time. */
const GATHER_MS = 2000;
/** A promise that is late by this much was lost. */
const LOST_MS = 5000;
const MAX_REFUSAL_TEXTS = 50;
const MORE_REFUSALS = "Requests to other hosts were refused, too";

/** The memory of this isolate: requests of all revisions come by here, and no request has memory of its own. */
const pendings = new Map<string, Pending>();

/** Counts what one revision uses, and writes it to its deployment's log by and by. */
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

  /** Counts a refused request; the same text is logged once for a while, with its number. */
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

/** Counts for the revisions of one deployment; the graphs that the Worker was built with have none. */
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
