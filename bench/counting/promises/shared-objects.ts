import { DurableObject } from "cloudflare:workers";
import { CombiningWriter } from "../../../src/agent-server/threads/index/combining-writer.ts";
import { type ThreadIndexRow, upsertThread } from "../../../src/db/threads-repo.ts";
import { GroupCommit } from "../../../src/tracing/shard/group-commit.ts";
import { RUN_COLUMNS, type TracedRun } from "./run-trace.ts";

/** The platform's own limits of a batch. */
const BATCH = { maxItems: 50, maxSize: 4 * 1024 * 1024, maxGatherMs: 10 };

/** Writes the rows of all threads to the index in D1, those that arrive together in one batch. */
export class IndexObject extends DurableObject<{ DB: D1Database }> {
  readonly #writer = new CombiningWriter<ThreadIndexRow>(
    async (rows) => {
      await this.env.DB.batch(rows.map((row) => upsertThread(this.env.DB, row)));
    },
    (newer, older) => newer.version >= older.version,
    BATCH,
  );

  /** Resolves when D1 has the row. */
  async put(row: ThreadIndexRow): Promise<void> {
    await this.#writer.write({ key: row.thread_id, item: row, size: row.json_chars });
  }
}

const INSERT_RUN = `INSERT OR REPLACE INTO runs VALUES (${RUN_COLUMNS.map(() => "?").join(", ")})`;

/** The traces of one day: a row for each run and one for each trace. */
export class TracesObject extends DurableObject {
  readonly #commits = new GroupCommit(this.ctx.storage);

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const [id, ...others] = RUN_COLUMNS;
    ctx.storage.sql.exec(`
      CREATE TABLE IF NOT EXISTS runs (${id} TEXT PRIMARY KEY, ${others.join(", ")}) WITHOUT ROWID;
      CREATE TABLE IF NOT EXISTS traces (trace_id TEXT PRIMARY KEY, received_at INTEGER, runs INTEGER)
        WITHOUT ROWID;
    `);
  }

  async write(traceId: string, runs: readonly TracedRun[]): Promise<void> {
    await this.#commits.join(() => {
      const { sql } = this.ctx.storage;
      for (const run of runs) sql.exec(INSERT_RUN, ...run);
      sql.exec("INSERT OR REPLACE INTO traces VALUES (?, ?, ?)", traceId, Date.now(), runs.length);
    });
  }
}

/** The days of all runs, by which a run is found without its day. */
export class RunIdsObject extends DurableObject {
  readonly #commits = new GroupCommit(this.ctx.storage);

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    ctx.storage.sql.exec(
      "CREATE TABLE IF NOT EXISTS packs (id INTEGER PRIMARY KEY, day TEXT, ids TEXT)",
    );
  }

  async write(day: string, ids: readonly string[]): Promise<void> {
    await this.#commits.join(() => {
      const { sql } = this.ctx.storage;
      sql.exec("INSERT INTO packs (day, ids) VALUES (?, ?)", day, ids.join(","));
    });
  }
}
