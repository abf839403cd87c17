import { hasTable } from "../../lib/object-migrations.ts";
import { dayOf } from "../../lib/utc-day.ts";
import { NEXT_KEY } from "../filter/run-key.ts";
import { rootTime } from "../model/dotted-order.ts";
import { FreeKeys } from "./free-keys.ts";
import type { IndexedRow, RunSegments } from "./segments/run-segments.ts";
import type { ShardSettings } from "./shard-settings.ts";

/** Maximum runs of one turn, and characters of their payloads in UTF-16 code units; one run alone may be longer. */
const TURN_RUNS = 256;
const TURN_CHARS = 4 * 1024 * 1024;
/** Maximum rows of a table that one turn deletes. */
const TURN_DELETIONS = 2_000;

type OldRun = IndexedRow & { seq: number; dotted_order: string; chars: number };

/**
 * A shard of the first version had seven indexes, and a row for each payload and attribute. Its runs are moved to
 * the current tables some at a time, each turn in its own transaction, so that time, memory and the effect of a
 * crash do not depend on their number. The shard is neither read nor written before all of them are moved.
 */
export class OldRuns {
  readonly #sql: SqlStorage;
  readonly #segments: RunSegments;
  readonly #settings: ShardSettings;
  readonly #keys = new FreeKeys();

  constructor(sql: SqlStorage, segments: RunSegments, settings: ShardSettings) {
    this.#sql = sql;
    this.#segments = segments;
    this.#settings = settings;
  }

  /** Whether there are runs to move. */
  get exist(): boolean {
    return hasTable(this.#sql, "indexed_runs");
  }

  /** Does the work of one turn, inside of a transaction. Returns true if nothing is left. */
  moveSome(): boolean {
    if (this.#moveRuns() || this.#clearTables()) return false;
    for (const { table } of OLD_TABLES) this.#sql.exec(`DROP TABLE ${table}`);
    this.#settings.movedTo = null;
    return true;
  }

  #moveRuns(): boolean {
    const from = this.#settings.movedTo ?? -1;
    let to = from;
    let chars = 0;
    for (const run of this.#sql.exec<OldRun>(NEXT_RUNS, from).toArray()) {
      chars += run.chars;
      if (to > from && chars > TURN_CHARS) break;
      this.#moveRun(run);
      to = run.seq;
    }
    if (to === from) return false;
    this.#sql.exec(EXPECT_PARENTS, from, to);
    this.#settings.movedTo = to;
    this.#segments.tidy();
    return true;
  }

  #moveRun(run: OldRun): void {
    const { seq, start_time: start, trace_id: traceId } = run;
    const homeDay = dayOf(rootTime(run.dotted_order));
    const home = homeDay === this.#settings.ref.day ? null : homeDay;
    this.#sql.exec(MOVE_LONG_PAYLOADS, seq);
    this.#keys.atFree(start, (time) => this.#sql.exec(MOVE_RUN, time, seq));
    this.#sql.exec(MOVE_TRACE, start, home, traceId);
    this.#sql.exec("DELETE FROM payloads WHERE key BETWEEN ?1 * 8 AND ?1 * 8 + 7", seq);
    this.#segments.add(run, true, null);
  }

  /** Deletes some of the moved rows. Returns false if all tables are empty. */
  #clearTables(): boolean {
    for (const { table, key } of OLD_TABLES) {
      const some = `SELECT ${key} FROM ${table} ORDER BY ${key} LIMIT ${TURN_DELETIONS}`;
      if (table === "bare_traces") this.#sql.exec(moveRunlessTraces(some));
      const { rowsWritten } = this.#sql.exec(`DELETE FROM ${table} WHERE (${key}) IN (${some})`);
      if (rowsWritten > 0) return true;
    }
    return false;
  }
}

/** Runs come before their attributes, to which they refer. */
const OLD_TABLES = [
  { table: "payloads", key: "key" },
  { table: "bare_traces", key: "trace_id" },
  { table: "indexed_runs", key: "seq" },
  { table: "run_attributes", key: "attribute_id, seq" },
  { table: "attributes", key: "attribute_id" },
];

const METADATA = `(SELECT json_group_array(json_array(a.key, a.value)) FROM json_each(o.attribute_ids) i
  JOIN attributes a ON a.attribute_id = i.value AND a.kind = 'metadata')`;

const NEXT_RUNS = `SELECT seq, id, start_time, trace_id, parent_run_id, thread_id, reference_example_id, name,
    status, tags, dotted_order, ${METADATA} AS metadata,
    (SELECT total(length(body)) FROM payloads WHERE key BETWEEN seq * 8 AND seq * 8 + 7) AS chars
  FROM indexed_runs o WHERE seq > ? ORDER BY seq LIMIT ${TURN_RUNS}`;

const LONG_CHARS = 16384;

const MOVE_LONG_PAYLOADS = `INSERT INTO long_payloads (run_id, field, body)
  SELECT o.id, f.value, p.body FROM indexed_runs o
    JOIN payloads p ON p.key BETWEEN o.seq * 8 AND o.seq * 8 + 7
    JOIN json_each('["inputs","outputs","events","extra","serialized","error"]') f ON f.key = p.key & 7
  WHERE o.seq = ? AND length(p.body) > ${LONG_CHARS}`;

const MOVE_RUN = `INSERT OR FAIL INTO runs SELECT ${NEXT_KEY}, start_time, id, end_time, status, run_type,
    trace_id, parent_run_id, thread_id, reference_example_id, first_token_time, prompt_tokens,
    completion_tokens, total_tokens, prompt_cost, completion_cost, total_cost, patched, inserted_at,
    received_at, name, dotted_order, tags, ${METADATA},
    (SELECT body FROM payloads WHERE key = seq * 8 + 6),
    (SELECT body FROM payloads WHERE key = seq * 8 + 7),
    error, inputs_preview, outputs_preview, own_amounts, prompt_token_details, completion_token_details,
    prompt_cost_details, completion_cost_details, price_model_id, feedback_stats, attachments,
    ${[3, 0, 1, 5, 2, 4].map(movedPayload).join(", ")}
  FROM indexed_runs o WHERE seq = ?2`;

/** Converts a payload of the first version to the form of the second one. */
function movedPayload(number: number): string {
  return `(SELECT iif(body IS NULL, CAST(bytes || ' ' || object AS BLOB),
      iif(length(body) > ${LONG_CHARS}, 1, body))
    FROM payloads WHERE key = seq * 8 + ${number})`;
}

const MOVE_TRACE = `INSERT INTO traces (trace_id, tier, first_received_at, first_start, last_start, home)
  SELECT trace_id, tier, first_received_at, ?1, ?1, ?2 FROM bare_traces WHERE trace_id = ?3
  ON CONFLICT DO UPDATE SET first_start = min(first_start, excluded.first_start),
    last_start = max(last_start, excluded.last_start)`;

/** Moves traces that are only known from messages of other days. */
function moveRunlessTraces(some: string): string {
  return `INSERT OR IGNORE INTO traces (trace_id, tier, first_received_at)
    SELECT trace_id, tier, first_received_at FROM bare_traces WHERE trace_id IN (${some})`;
}

const EXPECT_PARENTS = `INSERT OR IGNORE INTO expected_parents
  SELECT parent_run_id FROM indexed_runs c
  WHERE seq > ? AND seq <= ? AND parent_run_id IS NOT NULL AND (total_tokens > 0 OR total_cost IS NOT NULL)
    AND NOT EXISTS (SELECT 1 FROM indexed_runs WHERE id = c.parent_run_id)`;
