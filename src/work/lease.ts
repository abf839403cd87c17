import { v4 as uuid } from "uuid";
import { renewLease, takeLease, type LeaseKey } from "../db/export-leases-repo.ts";
import type { ExportRunKey, ExportRunRow } from "../db/export-runs-repo.ts";

const RENEWALS_PER_LEASE = 3;
/** What the clocks of two machines may differ by, as a part of the lease. */
const MARGIN_PART = 10;

/** Somebody else works on the run now, or it was cancelled: what this step does counts no more. */
export class LeaseLost extends Error {
  override readonly name = "LeaseLost";
}

/**
 * The right of one step to work on an export run. It renews itself until `stop`. A process that dies
 * renews nothing, so that another takes over; one that was only slow finds its lease lost, and can
 * record nothing.
 */
export class Lease {
  readonly key: LeaseKey;
  readonly #db: D1Database;
  readonly #durationMs: number;
  #until: number;
  #lost = false;
  #timer: ReturnType<typeof setInterval> | undefined;

  private constructor(db: D1Database, key: LeaseKey, times: { durationMs: number; until: number }) {
    this.#db = db;
    this.key = key;
    this.#durationMs = times.durationMs;
    this.#until = times.until;
  }

  /** Null when the run is not due, not at work, or worked on by somebody. */
  static async take(
    db: D1Database,
    run: ExportRunKey,
    durationMs: number,
  ): Promise<{ lease: Lease; run: ExportRunRow } | null> {
    const now = Date.now();
    const key = { ...run, lease: uuid() };
    const until = now + durationMs;
    const row = await takeLease(db, key, { now, until });
    if (row === undefined) return null;
    const lease = new Lease(db, key, { durationMs, until });
    lease.#timer = setInterval(() => void lease.#renew(), durationMs / RENEWALS_PER_LEASE);
    return { lease, run: row };
  }

  /** When nobody else can have begun yet, in epoch milliseconds: what is sent must have arrived by then. */
  get deadline(): number {
    return this.#lost ? 0 : this.#until - this.#durationMs / MARGIN_PART;
  }

  /** Throws `LeaseLost`. */
  check(): void {
    if (this.deadline <= Date.now()) throw new LeaseLost("the lease has expired");
  }

  /** Throws `LeaseLost` when a statement that demands the lease has changed nothing. */
  require(changed: boolean): void {
    if (changed) return;
    this.#lost = true;
    throw new LeaseLost("the lease was taken away");
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async #renew(): Promise<void> {
    const until = Date.now() + this.#durationMs;
    try {
      if (await renewLease(this.#db, this.key, until)) this.#until = until;
      else this.#lost = true;
    } catch {
      // The next renewal tries again; without one the deadline passes.
    }
    if (this.#lost) this.stop();
  }
}
