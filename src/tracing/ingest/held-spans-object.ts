import { requireRoom } from "../../lib/local-disk.ts";
import { DurableObject } from "cloudflare:workers";
import { parseSettings } from "../../env.ts";
import { log } from "../../lib/log.ts";
import { hasTables, migrateTables } from "../../lib/object-migrations.ts";
import { formatDottedSegment, ownTime } from "../model/dotted-order.ts";
import { storeRuns } from "./store-runs.ts";
import type { Attachment } from "../model/run-write.ts";
import { findParents, type KnownParent } from "./held-spans.ts";
import { adoptOrphans, type Orphan, toRunWrite } from "./otlp/place-spans.ts";
import type { ParentRef } from "./otlp/span-identity.ts";

/** A run whose parent has not arrived yet; its attachments are already in R2. */
export type HeldSpan = {
  parent: ParentRef;
  orphan: Omit<Orphan, "attachments">;
  attachments: Attachment[];
};

type Row = { seq: number; body: string | null; object: string | null; held_at: number };

const MIGRATIONS = [
  `
  CREATE TABLE spans (
    seq INTEGER PRIMARY KEY,
    run_id TEXT NOT NULL UNIQUE,
    -- the parent's run id, and what it is if the parent is the root span of its trace
    parent_run_id TEXT NOT NULL,
    root_run_id TEXT,
    root_span_id TEXT,
    held_at INTEGER NOT NULL,
    body TEXT,
    object TEXT
  ) STRICT;
  CREATE INDEX spans_by_parent ON spans (parent_run_id);
  CREATE INDEX spans_by_root ON spans (root_run_id, root_span_id) WHERE root_run_id IS NOT NULL;
  `,
];

/** Maximum characters of a row; longer texts go to R2. */
const MAX_ROW_CHARS = 500_000;
const ROWS_PER_STEP = 100;
const LOOK_AGAIN_MS = 60_000;

/**
 * Holds spans that arrive before their parents, as exporters send them: a span is exported when it has
 * ended, and its parent ends later. They are kept on disk until their parent arrives; after a while they
 * are stored without it.
 */
export class HeldSpansObject extends DurableObject<Env> {
  readonly #sql: SqlStorage;
  #exists: boolean;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#sql = ctx.storage.sql;
    this.#exists = hasTables(this.#sql);
    if (this.#exists) migrateTables(ctx.storage, MIGRATIONS);
  }

  /**
   * Holds spans, and stores those whose parents are among `stored` (runs of the same request), are already in
   * the trace store, or become known when these are stored.
   */
  async hold(workspaceId: string, spans: HeldSpan[], stored: KnownParent[]): Promise<void> {
    if (spans.length > 0) await this.#save(workspaceId, spans);
    if (!this.#exists) return;
    await this.#adoptBelow(workspaceId, stored);
    if (spans.length === 0) return;
    // This comes after the spans are saved: a parent that is stored from here on finds them by itself.
    const parents = await findParents(
      this.env,
      workspaceId,
      spans.map(({ parent }) => parent),
    );
    await this.#adoptBelow(workspaceId, parents);
  }

  override async alarm(): Promise<void> {
    if (!this.#exists) return;
    const workspaceId = await this.ctx.storage.get<string>("workspace");
    if (workspaceId === undefined) return;
    // The alarm is set before the work, so that it is repeated after a failure.
    await this.ctx.storage.setAlarm(Date.now() + LOOK_AGAIN_MS);
    await this.#adoptBelow(workspaceId, await findParents(this.env, workspaceId, this.#parents()));
    await this.#adoptExpired(workspaceId);
    if (this.#sql.exec("SELECT 1 FROM spans LIMIT 1").toArray().length > 0) return;
    this.#exists = false;
    await this.ctx.storage.deleteAlarm();
    await this.ctx.storage.deleteAll();
  }

  async #save(workspaceId: string, spans: readonly HeldSpan[]): Promise<void> {
    const rows = await Promise.all(
      spans.map(async (span) => {
        const text = JSON.stringify(span);
        if (text.length <= MAX_ROW_CHARS) return { span, body: text, object: null };
        const object = `${workspaceId}/held-spans/${crypto.randomUUID()}`;
        await requireRoom(this.env, Buffer.byteLength(text));
        await this.env.PAYLOADS.put(object, text);
        return { span, body: null, object };
      }),
    );
    if (!this.#exists) {
      migrateTables(this.ctx.storage, MIGRATIONS);
      this.#exists = true;
      await this.ctx.storage.put("workspace", workspaceId);
      await this.ctx.storage.setAlarm(Date.now() + LOOK_AGAIN_MS);
    }
    this.ctx.storage.transactionSync(() => {
      for (const { span, body, object } of rows) {
        const { runId, ifRoot } = span.parent;
        this.#sql.exec(
          `INSERT OR REPLACE INTO spans
             (run_id, parent_run_id, root_run_id, root_span_id, held_at, body, object)
           VALUES (?, ?, ?, ?, ?, ?, ?)`,
          span.orphan.run.id,
          runId,
          ifRoot?.runId ?? null,
          ifRoot?.spanId ?? null,
          Date.now(),
          body,
          object,
        );
      }
    });
  }

  /** Stores the spans that are held below these runs, the spans below those, and so on. */
  async #adoptBelow(workspaceId: string, parents: readonly KnownParent[]): Promise<void> {
    const queue = [...parents];
    for (let parent = queue.shift(); parent !== undefined; parent = queue.shift()) {
      for (;;) {
        const rows = this.#below(parent);
        if (rows.length === 0) break;
        queue.push(...(await this.#store(workspaceId, rows, () => parent.dottedOrder)));
      }
    }
  }

  /** Stores spans whose parent will not arrive. A segment at the span's start takes the parent's place. */
  async #adoptExpired(workspaceId: string): Promise<void> {
    const { heldSpanMs } = parseSettings(this.env);
    for (;;) {
      const rows = this.#sql
        .exec<Row>(
          `SELECT seq, body, object, held_at FROM spans WHERE held_at <= ? LIMIT ${ROWS_PER_STEP}`,
          Date.now() - heldSpanMs,
        )
        .toArray();
      if (rows.length === 0) return;
      const stored = await this.#store(workspaceId, rows, ({ parent, orphan }) =>
        formatDottedSegment(ownTime(orphan.path), parent.ifRoot?.runId ?? parent.runId),
      );
      await this.#adoptBelow(workspaceId, stored);
    }
  }

  async #store(
    workspaceId: string,
    rows: readonly Row[],
    parentOrderOf: (held: HeldSpan) => string,
  ): Promise<KnownParent[]> {
    const writes = [];
    for (const row of rows) {
      const held = await this.#read(row);
      if (held === null) continue;
      const orphan = { ...held.orphan, attachments: [] };
      const { runs, rejected } = adoptOrphans([orphan], parentOrderOf(held));
      for (const { run } of runs) writes.push(toRunWrite(run, held.attachments));
      for (const { message } of rejected) this.#warn("span_rejected", message);
    }
    const background: Promise<unknown>[] = [];
    const failures = await storeRuns(this.env, workspaceId, writes, (promise) =>
      background.push(promise),
    );
    for (const { message } of failures) this.#warn("span_rejected", message);
    await Promise.all(background);
    this.#sql.exec(
      "DELETE FROM spans WHERE seq IN (SELECT value FROM json_each(?))",
      JSON.stringify(rows.map(({ seq }) => seq)),
    );
    const objects = rows.flatMap(({ object }) => object ?? []);
    if (objects.length > 0) await this.env.PAYLOADS.delete(objects);
    return writes.flatMap(({ id, identity }) =>
      identity === undefined
        ? []
        : [{ runId: id, rootSpanId: null, dottedOrder: identity.dottedOrder }],
    );
  }

  async #read({ body, object }: Row): Promise<HeldSpan | null> {
    const text =
      object === null ? body : ((await (await this.env.PAYLOADS.get(object))?.text()) ?? null);
    return text === null ? null : (JSON.parse(text) as HeldSpan);
  }

  #below({ runId, rootSpanId }: KnownParent): Row[] {
    return this.#sql
      .exec<Row>(
        `SELECT seq, body, object, held_at FROM spans
         WHERE parent_run_id = ? OR (root_run_id = ? AND root_span_id = ?) LIMIT ${ROWS_PER_STEP}`,
        runId,
        runId,
        rootSpanId,
      )
      .toArray();
  }

  #parents(): ParentRef[] {
    return this.#sql
      .exec<{ parent_run_id: string; root_run_id: string | null; root_span_id: string | null }>(
        "SELECT DISTINCT parent_run_id, root_run_id, root_span_id FROM spans",
      )
      .toArray()
      .map(({ parent_run_id, root_run_id, root_span_id }) => ({
        runId: parent_run_id,
        ifRoot:
          root_run_id === null || root_span_id === null
            ? null
            : { runId: root_run_id, spanId: root_span_id },
      }));
  }

  #warn(event: string, message: string): void {
    log(parseSettings(this.env).logLevel, "warn", { event, message });
  }
}
