import { DurableObject } from "cloudflare:workers";
import { parseSettings } from "../env.ts";
import { hasTables, migrateTables } from "../lib/object-migrations.ts";
import { dayOf } from "../lib/utc-day.ts";
import type { LogLine } from "./log-line.ts";
import {
  hasTooManyLines,
  insertLines,
  type LogPage,
  type LogQuery,
  pruneLines,
  selectLines,
} from "./line-table.ts";
import { addUsage, pruneUsage, selectUsage, type UsageOfDay } from "./usage-table.ts";

/** The list is append-only: a released migration is never edited. */
const LOG_MIGRATIONS = [
  `
  CREATE TABLE lines (
    -- microseconds since 1970, different for each line: its id and its place in the order
    time INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    revision_id TEXT,
    -- index into LOG_LINE_LEVELS
    level INTEGER NOT NULL,
    message TEXT NOT NULL
  ) STRICT;
  CREATE INDEX lines_by_revision ON lines (revision_id, kind, time);
  CREATE INDEX lines_by_kind ON lines (kind, time);
  CREATE TABLE usage (
    -- whole UTC days since 1970
    day INTEGER PRIMARY KEY,
    requests INTEGER NOT NULL,
    refused INTEGER NOT NULL,
    bytes_sent INTEGER NOT NULL,
    bytes_received INTEGER NOT NULL
  ) STRICT;
  `,
  `
  ALTER TABLE usage ADD COLUMN storage_operations INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE usage ADD COLUMN storage_rows INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE usage ADD COLUMN storage_bytes INTEGER NOT NULL DEFAULT 0;
  `,
];

/** Maximum milliseconds that an expired line stays on disk. It is not shown during that time. */
const PRUNE_MS = 3_600_000;
/** Number of lines after which they are counted again, because counting is too slow to do it with each call. */
const LINES_BETWEEN_COUNTS = 1000;

/**
 * The log of one deployment: lines about its rollouts and from its code, and its code's usage per day. The alarm
 * deletes lines that are too old or too many. When nothing is left, the object's storage is erased, and created
 * again with the next line.
 */
export class DeploymentLogObject extends DurableObject<Env> {
  readonly #sql: SqlStorage;
  #exists: boolean;
  #uncounted = LINES_BETWEEN_COUNTS;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#sql = ctx.storage.sql;
    this.#exists = hasTables(this.#sql);
    if (this.#exists) migrateTables(ctx.storage, LOG_MIGRATIONS);
  }

  async append(lines: LogLine[]): Promise<void> {
    this.#create();
    const now = Date.now();
    this.ctx.storage.transactionSync(() => insertLines(this.#sql, lines, now));
    this.#uncounted += lines.length;
    await this.#wakeBy(this.#hasTooManyLines() ? now : now + PRUNE_MS);
  }

  async list(query: LogQuery): Promise<LogPage> {
    if (!this.#exists) return { lines: [], more: false };
    return selectLines(this.#sql, { ...query, from: Math.max(query.from, this.#expiry()) });
  }

  async addUsage(days: UsageOfDay[]): Promise<void> {
    this.#create();
    this.ctx.storage.transactionSync(() => addUsage(this.#sql, days));
    await this.#wakeBy(Date.now() + PRUNE_MS);
  }

  /** Returns the usage per day, the newest day first. */
  async listUsage(page: { limit: number; offset: number }): Promise<UsageOfDay[]> {
    return this.#exists ? selectUsage(this.#sql, page) : [];
  }

  /** Deletes everything, when the deployment is deleted or nothing is left. */
  async erase(): Promise<void> {
    this.#exists = false;
    await this.ctx.storage.deleteAll();
  }

  override async alarm(): Promise<void> {
    if (!this.#exists) return;
    const isDone = this.ctx.storage.transactionSync(() => {
      pruneUsage(this.#sql, dayOf(Date.now() * 1000));
      return pruneLines(this.#sql, this.#expiry());
    });
    const rest = this.#sql.exec("SELECT 1 FROM lines UNION ALL SELECT 1 FROM usage LIMIT 1");
    if (rest.toArray().length === 0) return this.erase();
    await this.ctx.storage.setAlarm(Date.now() + (isDone ? PRUNE_MS : 0));
  }

  #create(): void {
    if (this.#exists) return;
    migrateTables(this.ctx.storage, LOG_MIGRATIONS);
    this.#exists = true;
  }

  #hasTooManyLines(): boolean {
    if (this.#uncounted < LINES_BETWEEN_COUNTS) return false;
    this.#uncounted = 0;
    return hasTooManyLines(this.#sql);
  }

  /** Returns the time before which lines have expired, in epoch microseconds. */
  #expiry(): number {
    return (Date.now() - parseSettings(this.env).deploymentLogMs) * 1000;
  }

  async #wakeBy(time: number): Promise<void> {
    const alarm = await this.ctx.storage.getAlarm();
    if (alarm === null || alarm > time) await this.ctx.storage.setAlarm(time);
  }
}
