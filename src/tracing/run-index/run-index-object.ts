import { DurableObject } from "cloudflare:workers";
import { hasTables, migrateTables } from "../../lib/object-migrations.ts";
import { PackTable } from "./pack-table.ts";
import type { IndexedRun } from "../shard/shard-ref.ts";

export type Reservation = {
  /** Runs that are already in the same project, but in another shard: they stay there. */
  elsewhere: IndexedRun[];
  /** Runs that were looked up before they arrived. */
  awaited: string[];
  /** The argument for `keep`; null if everything is already on disk. */
  instance: string | null;
};

/** An entry that is only in memory. `isMoved` means that the run was known in another project. */
type Pending = { run: IndexedRun; isMoved: boolean };

type Row = { id: string; project_id: string; day: number; bucket: number };

const MIGRATIONS = [
  `
  CREATE TABLE places (
    id TEXT PRIMARY KEY,
    project_id TEXT NOT NULL,
    day INTEGER NOT NULL,
    bucket INTEGER NOT NULL,
    entered_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE awaited (id TEXT PRIMARY KEY, since INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  `,
  `
  -- UUIDs in 16 bytes each, made in the same window of time: see pack-table.ts
  CREATE TABLE packs (
    window INTEGER NOT NULL,
    pack INTEGER NOT NULL,
    project_id TEXT NOT NULL,
    day INTEGER NOT NULL,
    bucket INTEGER NOT NULL,
    entered_at INTEGER NOT NULL,
    ids BLOB NOT NULL,
    PRIMARY KEY (window, pack)
  ) STRICT, WITHOUT ROWID;
  `,
];

/** The interval of the sweeps, which delete the entries of runs that certainly no longer exist. */
const SWEEP_MS = 7 * 86_400_000;
/** How long an entry is kept: longer than any trace. */
const KEPT_MS = 430 * 86_400_000;
const AWAITED_MS = 2 * 86_400_000;

/**
 * The run ids of a workspace, or of a part of them, and the shard of each: for requests that name nothing but
 * a run, and so that a run is never stored in two shards of one project.
 *
 * An entry is valid from when it is reserved, in memory, so that the shard can write its runs while the entry
 * goes to disk. The first of several requests to call `keep` stores what all of them have reserved.
 */
export class RunIndexObject extends DurableObject<Env> {
  readonly #sql: SqlStorage;
  readonly #packs: PackTable;
  /** Distinguishes this instance from a later one, which knows none of its reservations. */
  readonly #instance = crypto.randomUUID();
  readonly #pending = new Map<string, Pending>();
  /** Awaited ids that were reported to a caller. */
  readonly #told = new Set<string>();
  #exists: boolean;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#sql = ctx.storage.sql;
    this.#packs = new PackTable(this.#sql);
    this.#exists = hasTables(this.#sql);
    if (this.#exists) migrateTables(ctx.storage, MIGRATIONS);
  }

  /** Enters runs in memory. It writes nothing, so its response waits for no disk. */
  reserve(runs: IndexedRun[]): Reservation {
    const ids = runs.map(({ id }) => id);
    const known = this.#placesOf(ids);
    const elsewhere: IndexedRun[] = [];
    for (const run of runs) {
      const place = known.get(run.id);
      if (place === undefined || place.projectId !== run.projectId) {
        this.#pending.set(run.id, { run, isMoved: place !== undefined });
      } else if (place.day !== run.day || place.bucket !== run.bucket) {
        elsewhere.push(place);
      }
    }
    const awaited = this.#awaitedOf(ids);
    for (const id of awaited) this.#told.add(id);
    const isKept = awaited.length === 0 && !ids.some((id) => this.#pending.has(id));
    return { elsewhere, awaited, instance: isKept ? null : this.#instance };
  }

  /**
   * Stores what is reserved; the response is held back until it is on disk. Returns false if the reservation was
   * made by an instance that no longer exists.
   */
  async keep(instance: string): Promise<boolean> {
    if (instance !== this.#instance) return false;
    await this.#open();
    if (this.#pending.size === 0 && this.#told.size === 0) return true;
    try {
      this.ctx.storage.transactionSync(() => this.#write());
    } catch (error) {
      this.#packs.reset();
      throw error;
    }
    this.#pending.clear();
    this.#told.clear();
    return true;
  }

  #write(): void {
    const fresh: IndexedRun[] = [];
    const moved: IndexedRun[] = [];
    for (const { run, isMoved } of this.#pending.values()) (isMoved ? moved : fresh).push(run);
    const now = Date.now();
    this.#insert([...moved, ...this.#packs.add(fresh, now)], now);
    if (this.#told.size === 0) return;
    const told = JSON.stringify([...this.#told]);
    this.#sql.exec("DELETE FROM awaited WHERE id IN (SELECT value FROM json_each(?))", told);
  }

  #awaitedOf(ids: readonly string[]): string[] {
    if (!this.#exists) return [];
    return this.#sql
      .exec<{ id: string }>(
        "SELECT id FROM awaited WHERE id IN (SELECT value FROM json_each(?))",
        JSON.stringify(ids),
      )
      .toArray()
      .flatMap(({ id }) => (this.#told.has(id) ? [] : [id]));
  }

  #placesOf(ids: readonly string[]): Map<string, IndexedRun> {
    const places = this.#storedPlacesOf(ids);
    for (const id of ids) {
      const pending = this.#pending.get(id);
      if (pending !== undefined) places.set(id, pending.run);
    }
    return places;
  }

  /** A run's own row takes precedence over a packed one: the run has moved to another project. */
  #storedPlacesOf(ids: readonly string[]): Map<string, IndexedRun> {
    if (!this.#exists) return new Map();
    const single = this.#sql
      .exec<Row>(
        "SELECT * FROM places WHERE id IN (SELECT value FROM json_each(?))",
        JSON.stringify(ids),
      )
      .toArray()
      .map(toIndexedRun);
    const places = new Map(single.map((run) => [run.id, run]));
    for (const id of ids) {
      const place = places.has(id) ? undefined : this.#packs.find(id);
      if (place !== undefined) places.set(id, { id, ...place });
    }
    return places;
  }

  #insert(runs: readonly IndexedRun[], now: number): void {
    if (runs.length === 0) return;
    this.#sql.exec(
      `INSERT INTO places (id, project_id, day, bucket, entered_at)
       SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, ? FROM json_each(?) WHERE true
       ON CONFLICT DO UPDATE SET project_id = excluded.project_id, day = excluded.day,
         bucket = excluded.bucket WHERE project_id <> excluded.project_id`,
      now,
      JSON.stringify(runs.map(({ id, projectId, day, bucket }) => [id, projectId, day, bucket])),
    );
  }

  /** Returns the places of those that are known; with `remember`, the others are awaited. */
  async find(ids: string[], remember: boolean): Promise<IndexedRun[]> {
    if (remember) await this.#open();
    const known = [...this.#placesOf(ids).values()];
    if (remember) {
      const found = new Set(known.map(({ id }) => id));
      const missing = ids.filter((id) => !found.has(id));
      this.#sql.exec(
        `INSERT OR IGNORE INTO awaited (id, since) SELECT value, ? FROM json_each(?)`,
        Date.now(),
        JSON.stringify(missing),
      );
    }
    return known;
  }

  override async alarm(): Promise<void> {
    if (!this.#exists) return;
    const now = Date.now();
    this.#sql.exec("DELETE FROM places WHERE entered_at < ?", now - KEPT_MS);
    this.#packs.forget(now - KEPT_MS);
    this.#sql.exec("DELETE FROM awaited WHERE since < ?", now - AWAITED_MS);
    const left = this.#sql.exec("SELECT 1 FROM places UNION ALL SELECT 1 FROM awaited LIMIT 1");
    const isUsed = left.toArray().length > 0 || this.#pending.size > 0;
    if (isUsed || !this.#packs.isEmpty()) {
      await this.ctx.storage.setAlarm(now + SWEEP_MS);
    } else {
      this.#exists = false;
      this.#packs.reset();
      await this.ctx.storage.deleteAll();
    }
  }

  async #open(): Promise<void> {
    if (this.#exists) return;
    migrateTables(this.ctx.storage, MIGRATIONS);
    this.#exists = true;
    await this.ctx.storage.setAlarm(Date.now() + SWEEP_MS);
  }
}

function toIndexedRun({ id, project_id, day, bucket }: Row): IndexedRun {
  return { id, projectId: project_id, day, bucket };
}
