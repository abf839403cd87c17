import { DurableObject } from "cloudflare:workers";
import { deleteFeedbackRows } from "../../db/feedback-repo.ts";
import type { TraceTier } from "../../db/tracing-schema.ts";
import { parseSettings } from "../../env.ts";
import { log } from "../../lib/log.ts";
import { dayOf } from "../../lib/utc-day.ts";
import type { KnownTraces } from "../filter/filter.ts";
import type { PageQuery, RunPage, RunPosition } from "../model/run-page.ts";
import type { RunWrite } from "../model/run-write.ts";
import type { PriceMap } from "../usage/costs.ts";
import { loadPrices } from "../usage/workspace-prices.ts";
import { LoadMeter } from "./buckets.ts";
import { DayMessages, Outbox, type ShardMessage } from "./day-messages.ts";
import { type ExportPage, type ExportPageQuery, readExportPage } from "./export-page.ts";
import { type FeedbackRun, removeFeedbackCopies, saveFeedback } from "./shard-feedback.ts";
import type { ShardFeedback } from "./feedback-stats.ts";
import { ShardDatabase } from "./shard-database.ts";
import { GroupCommit } from "./group-commit.ts";
import { ShardGate } from "./shard-gate.ts";
import { listForWrites, raiseBuckets, unlist } from "./shard-settings.ts";
import { deletePayloadsUnder, Garbage, shardPrefix } from "./stored-payload.ts";
import { readTurn, type TurnQuery, type TurnRows } from "./scan-turn.ts";
import { discardAttachments, feedbackOf, TraceTable } from "./trace-table.ts";
import { readPage } from "./run-page.ts";
import type { RunSelection } from "./selection.ts";
import { ShardAlarm } from "./shard-alarm.ts";
import { type ShardRef, shardStub } from "./shard-ref.ts";
import { type GroupTotals, readStats, type StatsQuery, statsWork } from "./shard-stats.ts";
import { readThreadTotals, type ThreadTotals } from "./shard-threads.ts";
import {
  matchingTraces,
  type MetadataCount,
  otherDaysOf,
  readMetadataCounts,
  splitTraces,
} from "./shard-traces.ts";
import { PROJECT_GONE, type WriteOutcome, type WriteResult, writeRuns } from "./write-runs.ts";

/** Longer than the time between the upload of a payload and the write that refers to it. */
const MAX_UPLOAD_MS = 3_600_000;
const EXPIRED_TRACES_PER_STEP = 200;
/** Microseconds of work per run, besides testing the filters on it. */
const THREADS_WORK = 12;
const METADATA_WORK = 8;

/**
 * The runs of one project that started on one UTC day (or one bucket of them), with everything that filters
 * need of them. It is listed in D1 before its first run is accepted, and deletes itself when its last trace has
 * expired.
 */
export class RunShardObject extends DurableObject<Env> {
  readonly #db: ShardDatabase;
  readonly #sql: SqlStorage;
  readonly #outbox: Outbox;
  readonly #traces: TraceTable;
  readonly #garbage: Garbage;
  readonly #messages: DayMessages;
  readonly #gate: ShardGate;
  readonly #alarm: ShardAlarm;
  readonly #commits: GroupCommit;
  readonly #load = new LoadMeter();
  #destroying: Promise<void> | null = null;
  /** How often the listing in D1 was invalidated: a listing is valid as long as this does not change. */
  #voided = 0;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const { shortlivedTraceMs, longlivedTraceMs } = parseSettings(env);
    this.#db = new ShardDatabase(ctx.storage);
    this.#sql = ctx.storage.sql;
    this.#commits = new GroupCommit(ctx.storage);
    this.#outbox = new Outbox(this.#sql);
    this.#garbage = new Garbage(this.#sql, env.PAYLOADS);
    this.#traces = new TraceTable(this.#sql, {
      shortlivedMs: shortlivedTraceMs,
      longlivedMs: longlivedTraceMs,
    });
    this.#messages = new DayMessages(this.#db, this.#outbox, this.#traces);
    this.#gate = new ShardGate(this.#db, this.#messages, () => ctx.waitUntil(this.#schedule()));
    this.#alarm = new ShardAlarm(ctx.storage, {
      traces: this.#traces,
      outbox: this.#outbox,
      garbage: this.#garbage,
      pending: this.#db.pending,
    });
  }

  /** Stores all of the writes, or none. */
  async write(ref: ShardRef, writes: RunWrite[], tier: TraceTier): Promise<WriteResult> {
    await this.#db.moved();
    const prices = await loadPrices(this.env.DB, ref.workspaceId);
    let outcome: (WriteOutcome & { isNewTrace: boolean }) | null;
    do {
      await this.#destroying;
      if (!(await this.#list(ref, writes))) return PROJECT_GONE;
      const listedAt = this.#voided;
      // Whatever is written while the shard is being deleted would be deleted with it.
      outcome = await this.#commits.join(() =>
        this.#destroying === null && this.#voided === listedAt
          ? this.#db.transaction(() => this.#store(ref, writes, { prices, tier }))
          : null,
      );
    } while (outcome === null);
    const { unknown, tooLarge, isNewTrace } = outcome;
    this.#noteLoad(ref, writes.length);
    await this.#schedule(isNewTrace ? tier : undefined);
    return { projectGone: false, unknown, tooLarge };
  }

  #store(
    ref: ShardRef,
    writes: readonly RunWrite[],
    { prices, tier }: { prices: PriceMap; tier: TraceTier },
  ): WriteOutcome & { isNewTrace: boolean } {
    const now = Date.now() * 1000;
    this.#db.open(ref);
    const outcome = writeRuns({ db: this.#db, day: ref.day, prices, now }, writes);
    const noted = { tier, now, starts: outcome.starts };
    const isNewTrace = this.#messages.noteTraces(ref, writes, noted);
    this.#messages.tellParents(outcome.foreign);
    return { ...outcome, isNewTrace };
  }

  /** Raises the project's buckets if this shard has too much work. That only helps with traces that start later. */
  #noteLoad(ref: ShardRef, writes: number): void {
    const now = Date.now();
    const load = this.#load.note(writes, this.#sql.databaseSize, now);
    if (load === null || ref.day !== dayOf(now * 1000)) return;
    this.ctx.waitUntil(
      raiseBuckets(this.env.DB, ref, load, now * 1000).catch((error: unknown) =>
        this.#warn("buckets_not_raised", error),
      ),
    );
  }

  /** Receives messages from another day's shard of the same traces. */
  async receive(ref: ShardRef, messages: ShardMessage[]): Promise<void> {
    await this.#db.moved();
    while (this.#destroying !== null) await this.#destroying;
    this.#gate.change(() => {
      this.#db.open(ref);
      for (const message of messages) this.#messages.apply(ref, message);
    });
    await this.#schedule();
  }

  /** Stores copies of feedback about runs that are here, and returns these runs. */
  async putFeedback(ref: ShardRef, rows: ShardFeedback[]): Promise<{ runs: FeedbackRun[] }> {
    await this.#db.moved();
    if (!this.#db.exists) return { runs: [] };
    const runs = this.#gate.change(() => {
      const { runs, extended } = saveFeedback(this.#db, rows, ref.projectId);
      for (const traceId of extended) this.#messages.upgrade(traceId);
      return runs;
    });
    await this.#schedule();
    return { runs };
  }

  async deleteFeedback(ids: string[]): Promise<void> {
    await this.#db.moved();
    // A run with feedback does not wait for its update.
    if (this.#db.exists) this.#db.transaction(() => removeFeedbackCopies(this.#db, ids));
  }

  /** Returns the selected runs in the order of their start. */
  async page(selection: RunSelection, query: PageQuery, known?: KnownTraces): Promise<RunPage> {
    const none = { runs: [], next: null };
    return this.#gate.read(none, (db) => readPage(db, selection, query, known));
  }

  /** Like `page`, in ascending order and column by column. */
  async exportPage(
    selection: RunSelection,
    query: ExportPageQuery,
    known?: KnownTraces,
  ): Promise<ExportPage> {
    const none: ExportPage = { runs: { rows: 0, texts: {}, numbers: {} }, next: null };
    return this.#gate.read(none, (db) => readExportPage(db, selection, query, known));
  }

  /** Returns totals of the runs after `after`, as far as one turn goes. */
  async stats(
    selection: RunSelection,
    query: StatsQuery,
    after: RunPosition | null,
    known?: KnownTraces,
  ): Promise<TurnRows<GroupTotals>> {
    return this.#turn({ selection, after, known, perRun: statsWork(query) }, (runs) =>
      readStats(this.#sql, runs, query),
    );
  }

  /** Returns the threads of the root runs after `after`, as far as one turn goes. */
  async threads(
    selection: RunSelection,
    after: RunPosition | null,
    known?: KnownTraces,
  ): Promise<TurnRows<ThreadTotals>> {
    const roots = { ...selection, isRoot: true };
    return this.#turn({ selection: roots, after, known, perRun: THREADS_WORK }, (runs) =>
      readThreadTotals(this.#sql, runs),
    );
  }

  /** Counts the values of each metadata key in the runs after `after`, as far as one turn goes. */
  async metadataCounts(
    selection: RunSelection,
    keys: string[] | null,
    after: RunPosition | null,
  ): Promise<TurnRows<MetadataCount>> {
    const query = { selection, after, known: undefined, perRun: METADATA_WORK };
    return this.#turn(query, (runs) => readMetadataCounts(this.#sql, runs, keys));
  }

  /** Returns the traces of this shard that have runs on other days too. */
  async splitTraces(): Promise<{ traceId: string; days: number[] }[]> {
    return this.#gate.read([], ({ sql }) => splitTraces(sql));
  }

  /** Returns the other days on which a trace whose root is here has runs. */
  async otherDaysOf(traceId: string): Promise<number[]> {
    return this.#gate.read([], ({ sql }) => otherDaysOf(sql, traceId));
  }

  /** Returns those of these traces that match a scope's filter with a run of this shard. */
  async matchingTraces(
    scope: "trace" | "tree",
    filter: string,
    traceIds: string[],
  ): Promise<string[]> {
    return this.#gate.read([], ({ sql }) => matchingTraces(sql, scope, filter, traceIds));
  }

  async deleteTraces(ref: ShardRef, traceIds: string[]): Promise<void> {
    await this.#db.moved();
    if (!this.#db.exists) return;
    await this.#removeTraces(ref, traceIds);
    await this.#schedule();
  }

  /** Closes the shard of a deleted project: later writes have to check D1 first, which rejects them. */
  close(): void {
    this.#voided += 1;
    if (this.#db.exists) this.#db.settings.forgetBounds();
  }

  /** Deletes everything permanently, because the project is being deleted. */
  destroy(ref: ShardRef): Promise<void> {
    return this.#destroy(ref, Infinity);
  }

  override async alarm(): Promise<void> {
    if (!this.#db.exists) return;
    try {
      await this.#db.moved();
      await this.#tidy(this.#db.settings.ref);
    } catch (error) {
      this.#warn("shard_alarm_failed", error);
      await this.#alarm.setAfterFailure();
    }
  }

  async #tidy(ref: ShardRef): Promise<void> {
    this.#gate.settleOld(Date.now());
    await this.#drain(ref);
    await this.#garbage.collect();
    const due = this.#traces.due(Date.now(), EXPIRED_TRACES_PER_STEP);
    if (due.length > 0) await this.#removeTraces(ref, due);
    if (this.#traces.isEmpty()) {
      // An object that was stored a moment ago may belong to a write that is on its way.
      await this.#destroy(ref, Date.now() - MAX_UPLOAD_MS);
      return;
    }
    this.#alarm.hasFired();
    if (due.length > 0) await this.#alarm.setBy(Date.now());
    await this.#schedule();
  }

  /** Makes sure that D1 lists this shard with bounds that include these writes. */
  async #list(ref: ShardRef, writes: readonly RunWrite[]): Promise<boolean> {
    const listed = this.#db.exists ? this.#db.settings.bounds : null;
    const bounds = await listForWrites(this.env.DB, ref, writes, listed);
    if (bounds === null) return false;
    if (bounds === listed) return true;
    this.#db.transaction(() => {
      this.#db.open(ref);
      this.#db.settings.bounds = bounds;
    });
    return true;
  }

  async #removeTraces(ref: ShardRef, traceIds: string[]): Promise<void> {
    // D1 comes first: after a crash in between, the shard still has the rows from which both are deleted again.
    const feedback = feedbackOf(this.#sql, traceIds);
    await deleteFeedbackRows(this.env.DB, ref.workspaceId, feedback);
    this.#gate.deleteTraces(traceIds);
    await this.#garbage.collect();
  }

  /** Sets the alarm for the next work, and starts the work that need not wait for it. */
  async #schedule(newTraceTier?: TraceTier): Promise<void> {
    const isWaiting = !this.#outbox.isEmpty();
    await this.#alarm.schedule(newTraceTier);
    if (isWaiting) this.ctx.waitUntil(this.#drain(this.#db.settings.ref));
  }

  /** After a failure, the rest is left to the alarm. */
  async #drain(ref: ShardRef): Promise<void> {
    try {
      await this.#outbox.drain(async (day, messages) => {
        const other = { ...ref, day };
        await shardStub(this.env, other).receive(other, messages);
      });
    } catch (error) {
      this.#warn("shard_message_failed", error);
    }
  }

  #warn(event: string, error: unknown): void {
    log(parseSettings(this.env).logLevel, "warn", { event, error: String(error) });
  }

  async #turn<T>(query: TurnQuery, read: Parameters<typeof readTurn<T>>[2]): Promise<TurnRows<T>> {
    return this.#gate.read({ rows: [], next: null }, (db) => readTurn(db, query, read));
  }

  #destroy(ref: ShardRef, uploadedBefore: number): Promise<void> {
    this.#voided += 1;
    this.#destroying ??= this.#erase(ref, uploadedBefore).finally(() => {
      this.#destroying = null;
    });
    return this.#destroying;
  }

  async #erase(ref: ShardRef, uploadedBefore: number): Promise<void> {
    await this.#db.moved();
    if (this.#db.exists) {
      discardAttachments(this.#sql);
      await this.#garbage.collect();
    }
    await deletePayloadsUnder(this.env.PAYLOADS, shardPrefix(ref), uploadedBefore);
    await unlist(this.env.DB, ref);
    this.#alarm.hasFired();
    await this.#db.erase();
  }
}
