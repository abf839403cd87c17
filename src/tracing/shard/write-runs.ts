import { metadataOf, threadIdOf } from "../model/text-leaves.ts";
import type { RunWrite } from "../model/run-write.ts";
import { amountsOf, modelOf, type PriceMap } from "../usage/costs.ts";
import { usageOfExtra } from "../usage/extract.ts";
import {
  AMOUNT_COLUMNS,
  NO_AMOUNTS,
  sameAmounts,
  toColumns,
  type OwnAmounts,
  totalsOf,
} from "./amounts.ts";
import type { AttributeChange } from "./attribute-table.ts";
import { RunMerge } from "./run-merge.ts";
import type { ShardDatabase } from "./shard-database.ts";
import { childrenOf, type ForeignChild, rollUp, withCountedChildren } from "./roll-up.ts";
import {
  newRunRow,
  type PayloadRow,
  PAYLOADS_PER_RUN,
  RUN_COLUMNS,
  type RunRow,
} from "../model/run-row.ts";

/** Bound parameters of a payload row, and how many fit into one statement (100 at most). */
const PAYLOAD_ROWS_PER_STATEMENT = 25;

/** What a patch can change; the rest of a row is its place, or follows from its children. */
const FIXED_COLUMNS = new Set<keyof RunRow>([
  "seq",
  "id",
  "trace_id",
  "parent_run_id",
  "dotted_order",
  "inserted_at",
]);

const CHANGING_COLUMNS = RUN_COLUMNS.filter((column) => !FIXED_COLUMNS.has(column));

export type WriteContext = {
  db: ShardDatabase;
  day: number;
  prices: PriceMap;
  /** Microseconds. */
  now: number;
};

export type WriteOutcome = {
  /** Updates that do not say where in the tree their run is, of runs that are not here. */
  unknown: string[];
  /** Runs of writes with which `extra` would have become too large. */
  tooLarge: string[];
  foreign: ForeignChild[];
};

/** What a shard says of writes. */
export type WriteResult = {
  /** Nothing was stored. */
  projectGone: boolean;
  /** Runs of updates without a place in the tree, which are not here. */
  unknown: string[];
  /** Runs of writes that are not stored, as `extra` would have become too large. */
  tooLarge: string[];
};

export const PROJECT_GONE: WriteResult = { projectGone: true, unknown: [], tooLarge: [] };

/** Lays writes over what is stored, in their order. To be called inside of a transaction. */
export function writeRuns(context: WriteContext, writes: readonly RunWrite[]): WriteOutcome {
  const { sql } = context.db;
  const runs = loadRuns(context, writes);
  const unknown: string[] = [];
  const tooLarge: string[] = [];
  for (const write of writes) {
    let run = runs.get(write.id);
    if (run === undefined && write.identity === undefined) {
      unknown.push(write.id);
      continue;
    }
    if (run === undefined) {
      run = new RunMerge(newRunRow(write, context.db.takeSeq(), context.now), false);
      runs.set(write.id, run);
    }
    if (!run.apply(write)) tooLarge.push(write.id);
  }
  const pending = [...runs.values()];
  const changed: RunRow[] = [];
  const attributeChanges: AttributeChange[] = [];
  for (const run of pending) {
    if (deriveColumns(context, run)) changed.push(run.row);
    attributeChanges.push(...deriveAttributes(context, run));
    saveRow(sql, run, context.now);
  }
  savePayloads(sql, pending);
  context.db.attributes.put(attributeChanges);
  const created = pending.filter(({ isNew }) => isNew).map(({ row }) => row.id);
  const stale = withCountedChildren(sql, created);
  return { unknown, tooLarge, foreign: rollUp(sql, context.day, { changed, stale }) };
}

function loadRuns(
  { db: { sql } }: WriteContext,
  writes: readonly RunWrite[],
): Map<string, RunMerge> {
  const ids = JSON.stringify(writes.map(({ id }) => id));
  const rows = sql
    .exec<RunRow>("SELECT * FROM runs WHERE id IN (SELECT value FROM json_each(?))", ids)
    .toArray();
  const runs = new Map(rows.map((row) => [row.id, new RunMerge(row, true)]));
  if (runs.size === 0) return runs;
  const keys = [...runs.values()].map((run) => run.payloadKey("extra"));
  const extras = sql.exec<{ key: number; body: string }>(
    "SELECT key, body FROM payloads WHERE key IN (SELECT value FROM json_each(?))",
    JSON.stringify(keys),
  );
  const bySeq = new Map([...runs.values()].map((run) => [run.row.seq, run]));
  for (const { key, body } of extras) {
    const run = bySeq.get(Math.floor(key / PAYLOADS_PER_RUN));
    if (run === undefined) continue;
    run.extra = JSON.parse(body) as Record<string, unknown>;
    run.extraText = body;
  }
  return runs;
}

/** Thread, tokens and costs, of what is merged. True when the run's totals changed. */
function deriveColumns(context: WriteContext, run: RunMerge): boolean {
  const { row } = run;
  if (run.attributesChanged) row.thread_id = threadIdOf(run.extra);
  if (!run.amountsChanged && !run.isNew) return false;
  const reported = usageOfExtra(run.extra) ?? run.usage;
  if (reported === null) {
    row.own_amounts = null;
  } else {
    const counted = reported.explicit || row.run_type === "llm";
    const amounts = counted
      ? amountsOf(reported, modelOf(run.extra), row.start_time, context.prices)
      : null;
    row.price_model_id = amounts?.priceModelId ?? null;
    const own: OwnAmounts = {
      usage: reported,
      amounts: amounts === null ? null : toColumns(amounts),
    };
    row.own_amounts = JSON.stringify(own);
  }
  const totals = totalsOf(row, run.isNew ? [] : childrenOf(context.db.sql, row.id));
  const before = run.isNew ? NO_AMOUNTS : row;
  if (sameAmounts(totals, before)) return false;
  Object.assign(row, totals);
  return true;
}

function saveRow(sql: SqlStorage, run: RunMerge, now: number): void {
  const { row } = run;
  if (run.isNew) {
    // Most runs have no amounts: a shorter statement leaves them at their defaults.
    const { text, columns } = sameAmounts(row, NO_AMOUNTS) ? INSERT_BARE : INSERT_COUNTED;
    sql.exec(text, ...columns.map((column) => row[column]));
    return;
  }
  const changed = run.changedColumns(CHANGING_COLUMNS);
  if (changed.length === 0 && run.payloads.size === 0) return;
  row.received_at = now;
  const columns = [...new Set([...changed, "received_at" as const])];
  sql.exec(
    `UPDATE runs SET ${columns.map((column) => `${column} = ?`).join(", ")} WHERE seq = ?`,
    ...columns.map((column) => row[column]),
    row.seq,
  );
}

const INSERT_COUNTED = insertRun(RUN_COLUMNS);

const INSERT_BARE = insertRun(
  RUN_COLUMNS.filter((column) => !AMOUNT_COLUMNS.some((amount) => amount === column)),
);

function insertRun(columns: readonly (keyof RunRow)[]) {
  const values = columns.map(() => "?").join(", ");
  return { columns, text: `INSERT INTO runs (${columns.join(", ")}) VALUES (${values})` };
}

function savePayloads(sql: SqlStorage, runs: readonly RunMerge[]): void {
  const replaced = runs
    .filter(({ isNew }) => !isNew)
    .flatMap(({ payloads }) => Array.from(payloads.keys()));
  if (replaced.length > 0) {
    sql.exec(
      `INSERT OR IGNORE INTO garbage (object) SELECT object FROM payloads
       WHERE object IS NOT NULL AND key IN (SELECT value FROM json_each(?))`,
      JSON.stringify(replaced),
    );
    sql.exec(
      "DELETE FROM payloads WHERE key IN (SELECT value FROM json_each(?))",
      JSON.stringify(replaced),
    );
  }
  for (const object of runs.flatMap(({ dropped }) => dropped)) {
    sql.exec("INSERT OR IGNORE INTO garbage (object) VALUES (?)", object);
  }
  const rows = runs.flatMap((run) => [...run.payloads.values()]);
  for (let start = 0; start < rows.length; start += PAYLOAD_ROWS_PER_STATEMENT) {
    insertPayloads(sql, rows.slice(start, start + PAYLOAD_ROWS_PER_STATEMENT));
  }
}

function insertPayloads(sql: SqlStorage, rows: readonly PayloadRow[]): void {
  const bindings: (number | string | null)[] = [];
  for (const { key, body, object, bytes } of rows) bindings.push(key, body, object, bytes);
  sql.exec(
    rows.length === PAYLOAD_ROWS_PER_STATEMENT ? FULL_INSERT : insertPayloadsSql(rows.length),
    ...bindings,
  );
}

const FULL_INSERT = insertPayloadsSql(PAYLOAD_ROWS_PER_STATEMENT);

function insertPayloadsSql(rows: number): string {
  const values = Array.from({ length: rows }, () => "(?, ?, ?, ?)").join(", ");
  // OR FAIL: to be able to undo just this statement, SQLite would copy pages to a temporary file.
  return `INSERT OR FAIL INTO payloads (key, body, object, bytes) VALUES ${values}`;
}

/** Sets the row's list of attributes; what that changes is entered when all rows are there. */
function deriveAttributes({ db: { attributes } }: WriteContext, run: RunMerge): AttributeChange[] {
  if (!run.attributesChanged) return [];
  const { row } = run;
  const before = row.attribute_ids;
  const now = attributes.idsOf({
    tags: row.tags === null ? [] : (JSON.parse(row.tags) as string[]),
    metadata: metadataOf(run.extra),
  });
  row.attribute_ids = now.length === 0 ? null : JSON.stringify(now);
  if (row.attribute_ids === before) return [];
  const removed = before === null ? [] : (JSON.parse(before) as number[]);
  return [{ seq: row.seq, before: removed, now }];
}
