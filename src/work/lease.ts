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
/** The allowed difference between the clocks of two machines: the lease's duration divided by this. */
const MARGIN_PART = 10;

/**
 * Thrown when another process works on the row, or nothing is left to do: the former holder's work has no effect
 * then.
 */
export class LeaseLost extends Error {
  override readonly name = "LeaseLost";
}

/**
 * The right of one process to work on one row. The lease renews itself until `stop` is called. A process that dies
 * stops renewing, so another one takes over; a process that was only slow finds its lease lost. Every statement
 * that makes work take effect requires the lease, and `require` throws a `LeaseLost` when such a statement changed
 * nothing.
 */
export class Lease<Key extends object, Table extends AnyTable> {
  /** The row's key and the lease's id, for statements that require the lease. */
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

  /**
   * Takes the lease of a row. Returns null when the row is not due, has ended, or is leased to another process.
   */
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

  /**
   * The time before which no other process can have begun, in epoch milliseconds. Requests must have arrived by
   * then.
   */
  get deadline(): number {
    return this.#isLost ? 0 : this.#until - this.#durationMs / MARGIN_PART;
  }

  /** Throws a `LeaseLost` when another process may have begun. */
  check(): void {
    if (this.deadline <= Date.now()) throw new LeaseLost("the lease has expired");
  }

  /** Throws a `LeaseLost` when a statement that requires the lease has changed nothing. */
  require(changed: boolean): void {
    if (changed) return;
    this.#isLost = true;
    throw new LeaseLost("the lease was taken away");
  }

  /**
   * Releases the row, which is due again at `dueAt`. Resolves to false when the lease had been taken away before.
   */
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
      // The next renewal tries again. If none succeeds, the deadline passes.
    }
    if (this.#isLost) this.stop();
  }
}
