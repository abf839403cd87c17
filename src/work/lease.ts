import { v4 as uuid } from "uuid";
import {
  type AnyTable,
  type HeldRow,
  releaseLease,
  renewLease,
  type RowOf,
  takeLease,
  type WorkTable,
} from "../db/leases-repo.ts";

const RENEWALS_PER_LEASE = 3;
/** What the clocks of two machines may differ by, as a part of the lease. */
const MARGIN_PART = 10;

/** Somebody else works on the row now, or there is nothing to do any more: what its former holder does counts no more. */
export class LeaseLost extends Error {
  override readonly name = "LeaseLost";
}

/**
 * The right of one process to work on one row. It renews itself until `stop`. A process that dies renews nothing, so
 * that another takes over; one that was only slow finds its lease lost. Every statement by which work takes effect
 * demands the lease, and `require` turns one that has changed nothing into a `LeaseLost`.
 */
export class Lease<Key extends object, Table extends AnyTable> {
  /** The row's key and the text of the lease, for statements that demand it. */
  readonly held: HeldRow<Key>;
  readonly #db: D1Database;
  readonly #work: WorkTable<Key, Table>;
  readonly #durationMs: number;
  #until: number;
  #isLost = false;
  #timer: ReturnType<typeof setInterval> | undefined;

  private constructor(
    db: D1Database,
    work: WorkTable<Key, Table>,
    held: HeldRow<Key>,
    times: { durationMs: number; until: number },
  ) {
    this.#db = db;
    this.#work = work;
    this.held = held;
    this.#durationMs = times.durationMs;
    this.#until = times.until;
  }

  /** Null when the row is not due, has ended, or is worked on by somebody. */
  static async take<Key extends object, Table extends AnyTable>(
    db: D1Database,
    work: WorkTable<Key, Table>,
    key: Key,
    durationMs: number,
  ): Promise<{ lease: Lease<Key, Table>; row: RowOf<Table> } | null> {
    const now = Date.now();
    const held = { ...key, lease: uuid() };
    const until = now + durationMs;
    const row = await takeLease(db, work, held, { now, until });
    if (row === undefined) return null;
    const lease = new Lease(db, work, held, { durationMs, until });
    lease.#timer = setInterval(() => void lease.#renew(), durationMs / RENEWALS_PER_LEASE);
    return { lease, row };
  }

  /** When nobody else can have begun yet, in epoch milliseconds: what is sent must have arrived by then. */
  get deadline(): number {
    return this.#isLost ? 0 : this.#until - this.#durationMs / MARGIN_PART;
  }

  /** Throws a `LeaseLost` when somebody else may have begun. */
  check(): void {
    if (this.deadline <= Date.now()) throw new LeaseLost("the lease has expired");
  }

  /** Throws a `LeaseLost` when a statement that demands the lease has changed nothing. */
  require(changed: boolean): void {
    if (changed) return;
    this.#isLost = true;
    throw new LeaseLost("the lease was taken away");
  }

  /** Gives the row back, to be looked at again at `dueAt`. False when it was taken away before. */
  release(dueAt: number): Promise<boolean> {
    this.stop();
    return releaseLease(this.#db, this.#work, this.held, { dueAt, now: Date.now() });
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async #renew(): Promise<void> {
    const until = Date.now() + this.#durationMs;
    try {
      if (await renewLease(this.#db, this.#work, this.held, until)) this.#until = until;
      else this.#isLost = true;
    } catch {
      // The next renewal tries again; without one the deadline passes.
    }
    if (this.#isLost) this.stop();
  }
}
