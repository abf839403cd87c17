import { DurableObject } from "cloudflare:workers";
import { allOf, type Sql } from "../../db/sql.ts";
import { deleteFeedbackRows } from "../../db/feedback-repo.ts";
import { listShard, unlistShard } from "../../db/run-shards-repo.ts";
import type { TraceTier } from "../../db/tracing-schema.ts";
import { parseSettings } from "../../env.ts";
import { log } from "../../lib/log.ts";
import { hasTables, migrateTables } from "../../lib/object-migrations.ts";
import { lastMicroOfDay, startOfDay } from "../../lib/utc-day.ts";
import { daysOf } from "../model/dotted-order.ts";
import { type KnownTraces, type RunSelection, selectionSql } from "./selection.ts";
import type { RunWrite } from "../model/run-write.ts";
import { loadPrices } from "../usage/price-cache.ts";
import { AttributeTable } from "./attribute-table.ts";
import { DayMessages } from "./day-messages.ts";
import { type FeedbackRun, knownRuns, removeFeedback, saveFeedback } from "./feedback-copies.ts";
import { type ExportPage, type ExportPageQuery, readExportPage } from "./export-page.ts";
import { Garbage } from "./garbage.ts";
import { Outbox, type ShardMessage } from "./outbox.ts";
import { planPage, spanOf } from "./page-range.ts";
import { deletePayloadsUnder, shardPrefix } from "./payload-objects.ts";
import { deleteTraceRows, discardAttachments, feedbackOf, TraceTable } from "./retention.ts";
import { readPage } from "./run-page.ts";
import type { PageQuery, RunPage, RunPosition } from "../model/run-record.ts";
import { beyond, findTurnEnd, fromPlace } from "./scan-turn.ts";
import type { ShardFeedback } from "./shard-feedback.ts";
import { type ShardRef, shardStub } from "./shard-ref.ts";
import { readStats, type GroupTotals, type StatsQuery, statsWork } from "./shard-stats.ts";
import { readThreads, type ThreadTotals } from "./shard-threads.ts";
import { matchingTraces, readMetadataCounts, splitTraces } from "./shard-traces.ts";
import { SHARD_MIGRATIONS } from "./tables.ts";
import { PROJECT_GONE, type WriteResult } from "./write-result.ts";
import { writeRuns } from "./write-runs.ts";

/** How long after a failure, or a crash, what was left undone is tried again. */
const RETRY_MS = 5_000;
/** More than there can be between the upload of a payload and the write that refers to it. */
const MAX_UPLOAD_MS = 3_600_000;
const ALARM_RETRY_MS = 60_000;
const EXPIRED_TRACES_PER_STEP = 200;
/** Microseconds for each run, besides trying the filters on it. */
const THREADS_WORK = 12;
const METADATA_WORK = 8;

/** What was read of a part of the runs; `next` is where to go on, null when there are no more. */
type Part<T> = { rows: T[]; next: RunPosition | null };

/**
 * The runs of one project that started on one UTC day (or one bucket of them), with all that filters
 * ask of them. It is listed in D1 before its first run is accepted, and deletes itself when its last
 * trace has expired.
 */
export class RunShardObject extends DurableObject<Env> {
  readonly #sql: SqlStorage;
  readonly #attributes: AttributeTable;
  readonly #outbox: Outbox;
  readonly #traces: TraceTable;
  readonly #garbage: Garbage;
  readonly #messages: DayMessages;
  #exists: boolean;
  #nextSeq: number | null = null;
  #draining: Promise<void> | null = null;
  #destroying: Promise<void> | null = null;
  /** As far as this instance knows; the alarm may be set earlier, never later. */
  #alarmAt: number | null = null;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const { shortlivedTraceMs, longlivedTraceMs } = parseSettings(env);
    this.#sql = ctx.storage.sql;
    this.#attributes = new AttributeTable(this.#sql);
    this.#outbox = new Outbox(this.#sql);
    this.#garbage = new Garbage(this.#sql, env.PAYLOADS);
    this.#traces = new TraceTable(this.#sql, {
      shortlivedMs: shortlivedTraceMs,
      longlivedMs: longlivedTraceMs,
    });
    this.#messages = new DayMessages(this.#sql, this.#outbox, this.#traces);
    this.#exists = hasTables(this.#sql);
    if (this.#exists) migrateTables(ctx.storage, SHARD_MIGRATIONS);
  }

  /** Stores writes, all or none. */
  async write(ref: ShardRef, writes: RunWrite[], tier: TraceTier): Promise<WriteResult> {
    const prices = await loadPrices(this.env.DB, ref.workspaceId);
    do {
      await this.#destroying;
      if (!(await this.#list(ref, writes))) return PROJECT_GONE;
      // What is written while the shard is being deleted would go with it.
    } while (this.#destroying !== null);
    const now = Date.now() * 1000;
    const { unknown, tooLarge, isNewTrace } = this.#transaction(() => {
      this.#open(ref);
      const outcome = writeRuns(
        {
          sql: this.#sql,
          attributes: this.#attributes,
          day: ref.day,
          prices,
          now,
          nextSeq: () => this.#takeSeq(),
        },
        writes,
      );
      const isNewTrace = this.#noteTraces(ref, writes, tier, now);
      this.#messages.tellParents(outcome.foreign);
      return { ...outcome, isNewTrace };
    });
    await this.#schedule(isNewTrace ? tier : undefined);
    return { projectGone: false, unknown, tooLarge };
  }

  /** Messages of another day's shard of the same traces. */
  async receive(ref: ShardRef, messages: ShardMessage[]): Promise<void> {
    while (this.#destroying !== null) await this.#destroying;
    this.#transaction(() => {
      this.#open(ref);
      for (const message of messages) this.#messages.apply(ref, message);
    });
    await this.#schedule();
  }

  /** Copies of feedback of runs that are here; the answer names those. */
  async putFeedback(ref: ShardRef, rows: ShardFeedback[]): Promise<{ runs: FeedbackRun[] }> {
    if (!this.#exists) return { runs: [] };
    const runs = knownRuns(
      this.#sql,
      rows.map(({ runId }) => runId),
    );
    const traceOf = new Map(runs.map(({ id, trace_id }) => [id, trace_id]));
    const kept = rows.filter(({ runId }) => traceOf.has(runId));
    this.#transaction(() => {
      saveFeedback(this.#sql, kept);
      for (const { runId, extendRetention } of kept) {
        const traceId = traceOf.get(runId);
        if (extendRetention && traceId !== undefined) this.#messages.upgrade(ref, traceId);
      }
    });
    await this.#schedule();
    return {
      runs: runs.map((run) => ({
        id: run.id,
        traceId: run.trace_id,
        projectId: ref.projectId,
        isRoot: run.parent_run_id === null,
      })),
    };
  }

  deleteFeedback(ids: string[]): void {
    if (this.#exists) this.#transaction(() => removeFeedback(this.#sql, ids));
  }

  /** Runs of the selection in order of their start. */
  page(selection: RunSelection, query: PageQuery, known?: KnownTraces): RunPage {
    if (!this.#exists) return { runs: [], next: null };
    const plan = planPage(this.#sql, selection, query);
    const condition = selectionSql(fromPlace(selection, query), "r", known, plan.span);
    return readPage(this.#sql, condition, query, plan);
  }

  /** As `page`, in ascending order and column by column. */
  exportPage(selection: RunSelection, query: ExportPageQuery, known?: KnownTraces): ExportPage {
    if (!this.#exists) return { runs: { rows: 0, texts: {}, numbers: {} }, next: null };
    const place = { order: "asc", after: query.after, effort: 1 } as const;
    const plan = planPage(this.#sql, selection, place);
    const condition = selectionSql(fromPlace(selection, place), "r", known, plan.span);
    return readExportPage(this.#sql, condition, query, plan);
  }

  /** Totals of the runs behind `after`, as far as a turn goes. */
  stats(
    selection: RunSelection,
    query: StatsQuery,
    after: RunPosition | null,
    known?: KnownTraces,
  ): Part<GroupTotals> {
    return this.#part(selection, { after, perRun: statsWork(query) }, known, (condition) =>
      readStats(this.#sql, condition, query),
    );
  }

  /** Threads of the root runs behind `after`, as far as a turn goes. */
  threads(
    selection: RunSelection,
    after: RunPosition | null,
    known?: KnownTraces,
  ): Part<ThreadTotals> {
    const roots = { ...selection, isRoot: true };
    return this.#part(roots, { after, perRun: THREADS_WORK }, known, (condition) =>
      readThreads(this.#sql, condition),
    );
  }

  /** How often each value of each metadata key occurs behind `after`, as far as a turn goes. */
  metadataCounts(
    selection: RunSelection,
    keys: string[] | null,
    after: RunPosition | null,
  ): Part<{ key: string; value: string; n: number }> {
    return this.#part(selection, { after, perRun: METADATA_WORK }, undefined, (condition) =>
      readMetadataCounts(this.#sql, condition, keys),
    );
  }

  /** Traces of this shard that have runs on other days too. */
  splitTraces(ref: ShardRef): { traceId: string; days: number[] }[] {
    return this.#exists ? splitTraces(this.#sql, ref.day) : [];
  }

  /** The days on which a trace whose root is here has runs too. */
  otherDaysOf(traceId: string): number[] {
    if (!this.#exists) return [];
    return this.#sql
      .exec<{ day: number }>("SELECT day FROM trace_parts WHERE trace_id = ?", traceId)
      .toArray()
      .map(({ day }) => day);
  }

  /** Which of these traces fulfil a scope's filter by a run of this shard. */
  matchingTraces(scope: "trace" | "tree", filter: string, traceIds: string[]): string[] {
    return this.#exists ? matchingTraces(this.#sql, scope, filter, traceIds) : [];
  }

  async deleteTraces(ref: ShardRef, traceIds: string[]): Promise<void> {
    if (!this.#exists) return;
    await this.#removeTraces(ref, traceIds);
    await this.#schedule();
  }

  /** The project was deleted: what is written from now on asks D1 first, and is refused. */
  close(): void {
    if (this.#exists) this.#sql.exec("DELETE FROM settings WHERE name = 'bounds'");
  }

  /** Deletes everything, for good: the project is being deleted. */
  destroy(ref: ShardRef): Promise<void> {
    return this.#destroy(ref, Infinity);
  }

  override async alarm(): Promise<void> {
    if (!this.#exists) return;
    try {
      await this.#tidy(this.#ref());
    } catch (error) {
      // An alarm that fails is given up after a while, and no other one would be set.
      this.#warn("shard_alarm_failed", error);
      this.#alarmAt = null;
      await this.#alarmBy(Date.now() + ALARM_RETRY_MS);
    }
  }

  async #tidy(ref: ShardRef): Promise<void> {
    await this.#drain(ref);
    await this.#garbage.collect();
    const due = this.#traces.due(Date.now(), EXPIRED_TRACES_PER_STEP);
    if (due.length > 0) await this.#removeTraces(ref, due);
    if (this.#traces.isEmpty()) {
      // What was put a moment ago may be of a write that is on its way.
      await this.#destroy(ref, Date.now() - MAX_UPLOAD_MS);
      return;
    }
    this.#alarmAt = null;
    if (due.length > 0) await this.#alarmBy(Date.now());
    await this.#schedule();
  }

  /** Makes sure that D1 lists this shard with bounds that hold these writes. */
  async #list(ref: ShardRef, writes: readonly RunWrite[]): Promise<boolean> {
    const starts = writes.flatMap(({ startTime }) => (startTime === undefined ? [] : [startTime]));
    let first = Math.min(startOfDay(ref.day), ...starts);
    let last = Math.max(lastMicroOfDay(ref.day), ...starts);
    const listed = this.#exists ? this.#setting("bounds") : null;
    if (listed !== null) {
      const [from, to] = JSON.parse(listed) as [number, number];
      if (from <= first && to >= last) return true;
      first = Math.min(first, from);
      last = Math.max(last, to);
    }
    const bounds = { first_start: first, last_start: last };
    if (!(await listShard(this.env.DB, keyOf(ref), bounds))) return false;
    this.#transaction(() => {
      this.#open(ref);
      this.#set("bounds", JSON.stringify([first, last]));
    });
    return true;
  }

  #open(ref: ShardRef): void {
    if (this.#exists) return;
    migrateTables(this.ctx.storage, SHARD_MIGRATIONS);
    this.#set("ref", JSON.stringify(ref));
    this.#exists = true;
  }

  /** True when one of the traces is new here. */
  #noteTraces(ref: ShardRef, writes: readonly RunWrite[], tier: TraceTier, now: number): boolean {
    const orders = new Map<string, string>();
    for (const { identity } of writes) {
      if (identity !== undefined) orders.set(identity.traceId, identity.dottedOrder);
    }
    const added = this.#traces.note([...orders.keys()], tier, now);
    for (const traceId of added) {
      const home = daysOf(orders.get(traceId) ?? "")[0];
      if (home !== undefined && home !== ref.day) {
        this.#outbox.add(home, { kind: "part", traceId, day: ref.day });
      }
    }
    return added.length > 0;
  }

  async #removeTraces(ref: ShardRef, traceIds: string[]): Promise<void> {
    // First in D1: a crash in between leaves the shard's rows, by which both are deleted again.
    const feedback = feedbackOf(this.#sql, traceIds);
    await deleteFeedbackRows(this.env.DB, ref.workspaceId, feedback);
    this.#transaction(() => deleteTraceRows(this.#sql, traceIds));
    await this.#garbage.collect();
  }

  /** Sets the alarm for what is to be done next, and begins with what need not wait for it. */
  async #schedule(newTraceTier?: TraceTier): Promise<void> {
    const now = Date.now();
    const waiting = !this.#outbox.isEmpty();
    this.#alarmAt ??= await this.ctx.storage.getAlarm();
    const due: number[] = [];
    // Nobody knows of an alarm: also after a crash between a write and its alarm.
    if (this.#alarmAt === null) due.push(this.#traces.nextDue() ?? now + this.#traces.longestMs);
    if (newTraceTier !== undefined) due.push(now + this.#traces.ttlMs(newTraceTier));
    if (waiting || !this.#garbage.isEmpty() || this.#traces.isEmpty()) due.push(now + RETRY_MS);
    if (due.length > 0) await this.#alarmBy(Math.min(...due));
    if (waiting) this.ctx.waitUntil(this.#drain(this.#ref()));
  }

  async #alarmBy(due: number): Promise<void> {
    if (this.#alarmAt !== null && this.#alarmAt <= due) return;
    this.#alarmAt = due;
    await this.ctx.storage.setAlarm(due);
  }

  /** One at a time; a failure leaves the rest to the alarm. */
  #drain(ref: ShardRef): Promise<void> {
    this.#draining ??= this.#outbox
      .drain(async (day, messages) => {
        const other = { ...ref, day };
        await shardStub(this.env, other).receive(other, messages);
      })
      .catch((error: unknown) => this.#warn("shard_message_failed", error))
      .finally(() => {
        this.#draining = null;
      });
    return this.#draining;
  }

  #warn(event: string, error: unknown): void {
    log(parseSettings(this.env).logLevel, "warn", { event, error: String(error) });
  }

  #takeSeq(): number {
    this.#nextSeq ??= this.#sql
      .exec<{ next: number }>("SELECT coalesce(max(seq), 0) + 1 AS next FROM runs")
      .one().next;
    const seq = this.#nextSeq;
    this.#nextSeq += 1;
    return seq;
  }

  /** What `read` makes of the runs that a turn comes to. */
  #part<T>(
    selection: RunSelection,
    { after, perRun }: { after: RunPosition | null; perRun: number },
    known: KnownTraces | undefined,
    read: (condition: Sql) => T[],
  ): Part<T> {
    if (!this.#exists) return { rows: [], next: null };
    const place = { order: "asc", after } as const;
    const next = findTurnEnd(this.#sql, selection, place, { effort: 1, perRun });
    const bounded = { ...fromPlace(selection, place) };
    // Where there is no filter, SQLite finds the bound of the start in its index.
    if (next !== null) bounded.to = Math.min(bounded.to ?? next.startTime, next.startTime);
    const condition = selectionSql(bounded, "r", known, spanOf(place, next));
    const rows = read(allOf([condition, beyond(after, ">"), beyond(next, "<=")]));
    return { rows, next };
  }

  #ref(): ShardRef {
    return JSON.parse(this.#setting("ref") ?? "{}") as ShardRef;
  }

  #setting(name: string): string | null {
    const [row] = this.#sql
      .exec<{ value: string }>("SELECT value FROM settings WHERE name = ?", name)
      .toArray();
    return row?.value ?? null;
  }

  #set(name: string, value: string): void {
    this.#sql.exec("INSERT OR REPLACE INTO settings (name, value) VALUES (?, ?)", name, value);
  }

  #transaction<T>(change: () => T): T {
    const existed = this.#exists;
    try {
      return this.ctx.storage.transactionSync(change);
    } catch (error) {
      this.#exists = existed;
      this.#nextSeq = null;
      this.#attributes.reset();
      throw error;
    }
  }

  #destroy(ref: ShardRef, uploadedBefore: number): Promise<void> {
    this.#destroying ??= this.#erase(ref, uploadedBefore).finally(() => {
      this.#destroying = null;
    });
    return this.#destroying;
  }

  async #erase(ref: ShardRef, uploadedBefore: number): Promise<void> {
    if (this.#exists) {
      discardAttachments(this.#sql);
      await this.#garbage.collect();
    }
    await deletePayloadsUnder(this.env.PAYLOADS, shardPrefix(ref), uploadedBefore);
    await unlistShard(this.env.DB, keyOf(ref));
    this.#exists = false;
    this.#nextSeq = null;
    this.#alarmAt = null;
    this.#attributes.reset();
    await this.ctx.storage.deleteAlarm();
    await this.ctx.storage.deleteAll();
  }
}

function keyOf({ workspaceId, projectId, day, bucket }: ShardRef) {
  return { workspace_id: workspaceId, project_id: projectId, day, bucket };
}
