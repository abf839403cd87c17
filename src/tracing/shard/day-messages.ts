import type { TraceTier } from "../../db/tracing-schema.ts";
import { daysOf } from "../model/dotted-order.ts";
import type { RunWrite } from "../model/run-write.ts";
import type { Outbox, ShardMessage } from "./outbox.ts";
import type { TraceTable } from "./retention.ts";
import { type ForeignChild, mayBeChild, readTotals, rollUp } from "./roll-up.ts";
import type { ShardRef } from "./shard-ref.ts";
import { splitTraces } from "./shard-traces.ts";

/** What the shards of a trace's days tell each other about it. Inside of a transaction only. */
export class DayMessages {
  readonly #sql: SqlStorage;
  readonly #outbox: Outbox;
  readonly #traces: TraceTable;

  constructor(sql: SqlStorage, outbox: Outbox, traces: TraceTable) {
    this.#sql = sql;
    this.#outbox = outbox;
    this.#traces = traces;
  }

  /** Tells the shards of parents what the totals of their children are. */
  tellParents(children: readonly ForeignChild[]): void {
    for (const { day, ...child } of children) {
      const totals = readTotals(this.#sql, child.runId);
      this.#outbox.add(day, { kind: "child", ...child, totals });
    }
  }

  /**
   * Enters the traces of runs that came in, and tells the shards of their roots of this day. True when one of
   * them is new here.
   */
  noteTraces(
    ref: ShardRef,
    writes: readonly RunWrite[],
    { tier, now }: { tier: TraceTier; now: number },
  ): boolean {
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

  /** What another day's shard has said. */
  apply(ref: ShardRef, message: ShardMessage): void {
    if (message.kind === "child") {
      if (!mayBeChild(this.#sql, message)) return;
      this.#sql.exec(
        `INSERT OR REPLACE INTO foreign_children (run_id, parent_run_id, totals) VALUES (?, ?, ?)`,
        message.runId,
        message.parentRunId,
        JSON.stringify(message.totals),
      );
      this.tellParents(rollUp(this.#sql, ref.day, { changed: [], stale: [message.parentRunId] }));
    } else if (message.kind === "part") {
      this.#sql.exec(
        "INSERT OR IGNORE INTO trace_parts (trace_id, day) VALUES (?, ?)",
        message.traceId,
        message.day,
      );
      // A part that came after an upgrade has to be upgraded too.
      if (this.#tierOf(message.traceId) === "longlived") {
        this.#outbox.add(message.day, { kind: "tier", traceId: message.traceId });
      }
    } else {
      // Its runs of this day may be still to come.
      this.#traces.note([message.traceId], "shortlived", Date.now() * 1000);
      this.upgrade(ref, message.traceId);
    }
  }

  /** Keeps a trace for the long time, here and, by way of its root's shard, everywhere. */
  upgrade(ref: ShardRef, traceId: string): void {
    if (!this.#traces.upgrade(traceId)) return;
    for (const { traceId: split, days } of splitTraces(this.#sql, ref.day)) {
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
