import { DurableObject } from "cloudflare:workers";
import { hasTables, migrateTables } from "../../lib/object-migrations.ts";

/** Where a run is: the rest of a ShardRef. */
type RunPlace = { projectId: string; day: number; bucket: number };

export type IndexedRun = RunPlace & { id: string };

export type PutResult = {
  /** Runs that are in the same project already, but in another shard: they stay there. */
  elsewhere: IndexedRun[];
  /** Runs that somebody has asked for before they were here. */
  awaited: string[];
};

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
];

/** Entries of runs that are gone for certain go with the next sweep. */
const SWEEP_MS = 7 * 86_400_000;
/** Longer than any trace is kept. */
const KEPT_MS = 430 * 86_400_000;
const AWAITED_MS = 2 * 86_400_000;

/**
 * Run ids of a workspace, or of a part of them, and the shard of each: for requests that name a run
 * and nothing else, and so that a run is never stored in two shards of one project.
 */
export class RunIndexObject extends DurableObject<Env> {
  readonly #sql: SqlStorage;
  #exists: boolean;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#sql = ctx.storage.sql;
    this.#exists = hasTables(this.#sql);
    if (this.#exists) migrateTables(ctx.storage, MIGRATIONS);
  }

  async put(runs: IndexedRun[]): Promise<PutResult> {
    await this.#open();
    const rows = JSON.stringify(
      runs.map(({ id, projectId, day, bucket }) => [id, projectId, day, bucket]),
    );
    return this.ctx.storage.transactionSync(() => {
      const elsewhere = this.#sql
        .exec<Row>(
          `SELECT p.* FROM json_each(?) g JOIN places p ON p.id = g.value ->> 0
           WHERE p.project_id = g.value ->> 1
             AND (p.day <> g.value ->> 2 OR p.bucket <> g.value ->> 3)`,
          rows,
        )
        .toArray();
      this.#sql.exec(
        `INSERT INTO places (id, project_id, day, bucket, entered_at)
         SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, ? FROM json_each(?) WHERE true
         ON CONFLICT DO UPDATE SET project_id = excluded.project_id, day = excluded.day,
           bucket = excluded.bucket WHERE project_id <> excluded.project_id`,
        Date.now(),
        rows,
      );
      const awaited = this.#sql
        .exec<{ id: string }>(
          `DELETE FROM awaited WHERE id IN (SELECT value ->> 0 FROM json_each(?)) RETURNING id`,
          rows,
        )
        .toArray();
      return { elsewhere: elsewhere.map(toIndexedRun), awaited: awaited.map(({ id }) => id) };
    });
  }

  /** The places of those that are known; with `remember`, the others are awaited. */
  async find(ids: string[], remember: boolean): Promise<IndexedRun[]> {
    if (!this.#exists && !remember) return [];
    await this.#open();
    const known = this.#sql
      .exec<Row>(
        "SELECT * FROM places WHERE id IN (SELECT value FROM json_each(?))",
        JSON.stringify(ids),
      )
      .toArray()
      .map(toIndexedRun);
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
    this.#sql.exec("DELETE FROM awaited WHERE since < ?", now - AWAITED_MS);
    const left = this.#sql.exec("SELECT 1 FROM places UNION ALL SELECT 1 FROM awaited LIMIT 1");
    if (left.toArray().length > 0) {
      await this.ctx.storage.setAlarm(now + SWEEP_MS);
    } else {
      this.#exists = false;
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
