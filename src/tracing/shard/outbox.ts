import type { AmountColumns } from "./amounts.ts";

/**
 * What a shard tells the shard of another day, because a trace crosses midnight. Each message is the
 * newest state of its subject, so that telling it twice, or an older one late, does no harm.
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

/** Messages that other shards have still to confirm. */
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

  /** Sends all there is, one call at a time; what is not confirmed stays. */
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
        // One that changed meanwhile is sent again.
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
