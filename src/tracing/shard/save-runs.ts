import {
  AMOUNT_COLUMNS,
  LEAF_COLUMNS,
  NO_AMOUNTS,
  PAYLOAD_COLUMN,
  RUN_COLUMNS,
  type RunLeaves,
  type TracedRunRow,
} from "../model/run-row.ts";
import { keyIs, NEXT_KEY } from "../filter/run-key.ts";
import { SEARCHED_TEXT_COLUMNS } from "../filter/required-texts.ts";
import type { Payload, PayloadField } from "../model/run-write.ts";
import { sameAmounts } from "./amounts.ts";
import type { RunMerge } from "./run-merge.ts";
import type { ShardDatabase } from "./shard-database.ts";
import { isLong, type StoredPayload, toStored } from "./stored-payload.ts";

type Column = keyof (TracedRunRow & RunLeaves);

/** The columns that a patch cannot change: they identify the run, or are set once. */
const FIXED_COLUMNS = new Set<Column>([
  "id",
  "trace_id",
  "parent_run_id",
  "dotted_order",
  "inserted_at",
]);

const ROW_COLUMNS: readonly Column[] = [...RUN_COLUMNS, ...LEAF_COLUMNS];
export const CHANGING_COLUMNS = ROW_COLUMNS.filter((column) => !FIXED_COLUMNS.has(column));

/** The columns that most runs leave null or 0: such values need not be written. */
const OFTEN_EMPTY = new Set<Column>([
  ...AMOUNT_COLUMNS,
  "error",
  "reference_example_id",
  "first_token_time",
  "own_amounts",
  "price_model_id",
  "feedback_stats",
  "attachments",
]);
const USUAL_COLUMNS = ROW_COLUMNS.filter((column) => !OFTEN_EMPTY.has(column));

/** Writes rows of runs, each with all of its changes at once. Must be called inside of a transaction. */
export function saveRuns(db: ShardDatabase, runs: readonly RunMerge[], now: number): void {
  for (const run of runs) {
    if (run.isNew) insertRun(db, run);
    else if (!updateRun(db, run, now)) continue;
    saveLongPayloads(db.sql, run);
    const isMoved = run.before?.start_time !== run.row.start_time;
    db.segments.add(run.row, isMoved, isMoved || hasNewTexts(run) ? run.row : null);
  }
  for (const object of runs.flatMap(({ dropped }) => dropped)) {
    db.sql.exec("INSERT OR IGNORE INTO garbage (object) VALUES (?)", object);
  }
  db.segments.tidy();
}

function hasNewTexts({ row, before }: RunMerge): boolean {
  return SEARCHED_TEXT_COLUMNS.some((column) => row[column] !== before?.[column]);
}

function insertRun({ sql, keys }: ShardDatabase, { row, payloads }: RunMerge): void {
  const isUsual =
    sameAmounts(row, NO_AMOUNTS) &&
    [...OFTEN_EMPTY].every((column) => row[column] === null || row[column] === 0);
  const columns = isUsual ? USUAL_COLUMNS : ROW_COLUMNS;
  const stored = storedPayloads(payloads);
  const values = [
    ...columns.map((column) => row[column]),
    ...PAYLOADS.map((field) => stored.get(field) ?? null),
  ];
  keys.atFree(row.start_time, (time) =>
    sql.exec(isUsual ? INSERT_USUAL : INSERT_FULL, time, ...values),
  );
}

const PAYLOADS = Object.keys(PAYLOAD_COLUMN) as PayloadField[];
const INSERT_USUAL = insertSql(USUAL_COLUMNS);
const INSERT_FULL = insertSql(ROW_COLUMNS);

function insertSql(columns: readonly Column[]): string {
  const all = [...columns, ...PAYLOADS.map((field) => PAYLOAD_COLUMN[field])];
  // OR FAIL, because SQLite would copy pages to a temporary file to be able to undo just this statement.
  return `INSERT OR FAIL INTO runs (key, ${all.join(", ")})
    VALUES (${NEXT_KEY}, ${all.map((_, index) => `?${index + 2}`).join(", ")})`;
}

/** Returns false if nothing has changed. */
function updateRun({ sql, keys }: ShardDatabase, run: RunMerge, now: number): boolean {
  const { row, before, payloads, key } = run;
  const changed = run.changedColumns(CHANGING_COLUMNS);
  if (before === null || key === null || (changed.length === 0 && payloads.size === 0))
    return false;
  row.received_at = now;
  const columns = [...new Set<Column>([...changed, "received_at"])];
  const stored = storedPayloads(payloads);
  const names = [...columns, ...[...stored.keys()].map((field) => PAYLOAD_COLUMN[field])];
  sql.exec(
    `UPDATE runs SET ${names.map((name) => `${name} = ?`).join(", ")}
     WHERE ${keyIs()}`,
    ...columns.map((column) => row[column]),
    ...stored.values(),
    key.key_high,
    key.key_low,
  );
  if (row.start_time !== before.start_time) {
    keys.atFree(row.start_time, (time) =>
      sql.exec(
        `UPDATE runs SET key = ${NEXT_KEY} WHERE ${keyIs("?2", "?3")}`,
        time,
        key.key_high,
        key.key_low,
      ),
    );
  }
  return true;
}

function storedPayloads(
  payloads: ReadonlyMap<PayloadField, Payload>,
): Map<PayloadField, StoredPayload> {
  return new Map([...payloads].map(([field, payload]) => [field, toStored(payload)]));
}

function saveLongPayloads(sql: SqlStorage, { row, payloads, places }: RunMerge): void {
  for (const [field, payload] of payloads) {
    if (isLong(payload) && "json" in payload) {
      sql.exec(
        "INSERT OR REPLACE INTO long_payloads (run_id, field, body) VALUES (?, ?, ?)",
        row.id,
        field,
        payload.json,
      );
    } else if (typeof places?.[field] === "number") {
      sql.exec("DELETE FROM long_payloads WHERE run_id = ? AND field = ?", row.id, field);
    }
  }
}
