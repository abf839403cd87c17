import type { AmountColumns } from "../model/run-row.ts";
import type { TraceTier } from "../../db/tracing-schema.ts";
import { daysOf } from "../model/dotted-order.ts";
import type { RunWrite } from "../model/run-write.ts";
import { type ForeignChild, mayBeChild, RollUp } from "./roll-up.ts";
import type { ShardDatabase } from "./shard-database.ts";
import type { ShardRef } from "./shard-ref.ts";
import { splitTraces } from "./shard-traces.ts";
import type { NotedTrace, TraceStarts, TraceTable } from "./trace-table.ts";

/**
 * A message to the shard of another day about a trace that crosses midnight. Each message is the newest state of
 * its subject, so sending it twice, or sending an older one late, does no harm.
 */
export type ShardMessage =
  | {
      kind: "child";
      runId: string;
      parentRunId: string;
      orderLength: number;
      totals: AmountColumns;
    }
  | { kind: "part"; traceId: string; day: number }
  | { kind: "tier"; traceId: string };

type OutboxRow = { day: number; run_id: string; version: number; message: string };

const BATCH = 200;

type Send = (day: number, messages: ShardMessage[]) => Promise<void>;

/** Messages that other shards have not confirmed yet. */
export class Outbox {
  readonly #sql: SqlStorage;
  #draining: Promise<void> | null = null;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  add(day: number, message: ShardMessage): void {
    const subject = message.kind === "child" ? message.runId : `${message.kind}/${message.traceId}`;
    this.#sql.exec(
      `INSERT INTO outbox (day, run_id, version, message) VALUES (?, ?, 1, ?)
       ON CONFLICT DO UPDATE SET version = version + 1, message = excluded.message`,
      day,
      subject,
      JSON.stringify(message),
    );
  }

  isEmpty(): boolean {
    return this.#sql.exec("SELECT 1 FROM outbox LIMIT 1").toArray().length === 0;
  }

  /** Sends all messages, one call at a time; those that are not confirmed remain. */
  drain(send: Send): Promise<void> {
    this.#draining ??= this.#sendAll(send).finally(() => {
      this.#draining = null;
    });
    return this.#draining;
  }

  async #sendAll(send: Send): Promise<void> {
    for (;;) {
      const rows = this.#sql
        .exec<OutboxRow>(
          `SELECT * FROM outbox WHERE day = (SELECT min(day) FROM outbox) LIMIT ${BATCH}`,
        )
        .toArray();
      const [first] = rows;
      if (first === undefined) return;
      await send(
        first.day,
        rows.map(({ message }) => JSON.parse(message) as ShardMessage),
      );
      for (const { day, run_id, version } of rows) {
        // A message that changed in the meantime is sent again.
        this.#sql.exec(
          "DELETE FROM outbox WHERE day = ? AND run_id = ? AND version = ?",
          day,
          run_id,
          version,
        );
      }
    }
  }
}

/** The messages between the shards of a trace's days. For use inside of a transaction only. */
export class DayMessages {
  readonly #db: ShardDatabase;
  readonly #sql: SqlStorage;
  readonly #outbox: Outbox;
  readonly #traces: TraceTable;

  constructor(db: ShardDatabase, outbox: Outbox, traces: TraceTable) {
    this.#db = db;
    this.#sql = db.sql;
    this.#outbox = outbox;
    this.#traces = traces;
  }

  /** Sends the totals of children to the shards of their parents. */
  tellParents(children: readonly ForeignChild[]): void {
    for (const { day, ...child } of children) {
      this.#outbox.add(day, { kind: "child", ...child });
    }
  }

  /**
   * Enters the traces of received runs, and tells the shards of their roots about this day. Returns true if one of
   * the traces is new here.
   */
  noteTraces(
    ref: ShardRef,
    writes: readonly RunWrite[],
    { tier, now, starts }: { tier: TraceTier; now: number; starts: TraceStarts },
  ): boolean {
    const noted = new Map<string, NotedTrace>();
    for (const [traceId, bounds] of starts) noted.set(traceId, { starts: bounds, home: null });
    for (const { identity } of writes) {
      if (identity === undefined) continue;
      const home = daysOf(identity.dottedOrder)[0] ?? ref.day;
      noted.set(identity.traceId, {
        starts: starts.get(identity.traceId) ?? null,
        home: home === ref.day ? null : home,
      });
    }
    const added = this.#traces.note(noted, tier, now);
    for (const traceId of added) {
      const home = noted.get(traceId)?.home ?? null;
      if (home !== null) {
        this.#outbox.add(home, { kind: "part", traceId, day: ref.day });
      }
    }
    return added.length > 0;
  }

  /** Applies a message from the shard of another day. */
  apply(ref: ShardRef, message: ShardMessage): void {
    if (message.kind === "child") {
      if (!mayBeChild(this.#db, message)) return;
      this.#sql.exec(
        `INSERT OR REPLACE INTO foreign_children (run_id, parent_run_id, totals) VALUES (?, ?, ?)`,
        message.runId,
        message.parentRunId,
        JSON.stringify(message.totals),
      );
      this.tellParents(new RollUp(this.#db, ref.day).ofStored(message.parentRunId));
    } else if (message.kind === "part") {
      this.#sql.exec(
        "INSERT OR IGNORE INTO trace_parts (trace_id, day) VALUES (?, ?)",
        message.traceId,
        message.day,
      );
      // A part that arrives after an upgrade has to be upgraded too.
      if (this.#tierOf(message.traceId) === "longlived") {
        this.#outbox.add(message.day, { kind: "tier", traceId: message.traceId });
      }
    } else {
      // Its runs of this day may not have arrived yet.
      const unseen = new Map([[message.traceId, { starts: null, home: null }]]);
      this.#traces.note(unseen, "shortlived", Date.now() * 1000);
      this.upgrade(message.traceId);
    }
  }

  /** Moves a trace to the long retention, here and, through its root's shard, everywhere. */
  upgrade(traceId: string): void {
    if (!this.#traces.upgrade(traceId)) return;
    for (const { traceId: split, days } of splitTraces(this.#sql)) {
      if (split !== traceId) continue;
      for (const day of days) this.#outbox.add(day, { kind: "tier", traceId });
    }
  }

  #tierOf(traceId: string): string | undefined {
    return this.#sql
      .exec<{ tier: string }>("SELECT tier FROM traces WHERE trace_id = ?", traceId)
      .toArray()[0]?.tier;
  }
}
