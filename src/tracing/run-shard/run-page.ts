import type { Sql } from "../../db/sql.ts";
import type { PayloadField } from "../run-write.ts";
import type { PageQuery, RunPage, RunPosition, RunRecord } from "./run-record.ts";
import { RUN_COLUMNS } from "./run-row.ts";
import { PAYLOAD_NUMBER, PAYLOADS_PER_RUN } from "./tables.ts";

type PayloadRow = { key: number; body: string | null; object: string | null; bytes: number | null };

const COLUMNS = RUN_COLUMNS.map((column) => `r.${column}`).join(", ");

export type PagePlan = {
  /** When given, only these rows are looked at. */
  rows: Sql | null;
  /** How many runs may be looked at; the page may end before it is full. */
  scan: number | null;
};

/** Reads runs for which the condition on `r` holds. */
export function readPage(
  storage: SqlStorage,
  condition: Sql,
  query: PageQuery,
  { rows, scan }: PagePlan,
): RunPage {
  const { order, after, limit } = query;
  const descending = order === "desc";
  const direction = descending ? "DESC" : "ASC";
  const position = beyond(after, descending ? "<" : ">");
  const scanEnd = scan === null ? null : findScanEnd(storage, query, scan);
  const end = beyond(scanEnd, descending ? ">=" : "<=");
  const cursor = storage.exec<Omit<RunRecord, "payloads">>(
    `SELECT ${COLUMNS}, t.tier AS trace_tier, t.first_received_at AS trace_first_received_at
     FROM runs r JOIN traces t ON t.trace_id = r.trace_id
     WHERE ${rows === null ? "1" : `r.seq IN (${rows.text})`} AND ${condition.text}
       AND ${position.text} AND ${end.text}
     -- The plus keeps SQLite from going through the index in this order.
     ORDER BY ${rows === null ? "" : "+"}r.start_time ${direction}, r.id ${direction} LIMIT ?`,
    ...(rows?.params ?? []),
    ...condition.params,
    ...position.params,
    ...end.params,
    limit + 1,
  );
  const runs: RunRecord[] = [];
  let bytes = 0;
  for (const row of cursor) {
    const last = runs.at(-1);
    if (last !== undefined && (runs.length === limit || bytes > query.maxBytes)) {
      return { runs, next: { startTime: last.start_time, id: last.id } };
    }
    const payloads = readPayloads(storage, row.seq, query.payloads);
    for (const payload of Object.values(payloads)) {
      if ("json" in payload) bytes += payload.json.length;
    }
    runs.push({ ...row, payloads });
  }
  return { runs, next: scanEnd };
}

function beyond(position: RunPosition | null, compare: string): Sql {
  if (position === null) return { text: "1", params: [] };
  return {
    text: `(r.start_time, r.id) ${compare} (?, ?)`,
    params: [position.startTime, position.id],
  };
}

/** The last run of the next `scan` ones; null when there are fewer. */
function findScanEnd(
  storage: SqlStorage,
  { order, after }: PageQuery,
  scan: number,
): RunPosition | null {
  const direction = order === "desc" ? "DESC" : "ASC";
  const { text, params } = beyond(after, order === "desc" ? "<" : ">");
  const [row] = storage
    .exec<{ start_time: number; id: string }>(
      `SELECT r.start_time, r.id FROM runs r WHERE ${text}
       ORDER BY r.start_time ${direction}, r.id ${direction} LIMIT 1 OFFSET ?`,
      ...params,
      scan - 1,
    )
    .toArray();
  return row === undefined ? null : { startTime: row.start_time, id: row.id };
}

function readPayloads(
  storage: SqlStorage,
  seq: number,
  fields: readonly PayloadField[],
): RunRecord["payloads"] {
  const payloads: RunRecord["payloads"] = {};
  if (fields.length === 0) return payloads;
  const first = seq * PAYLOADS_PER_RUN;
  const rows = storage
    .exec<PayloadRow>(
      `SELECT key, body, object, bytes FROM payloads WHERE key IN (${fields.map(() => "?").join(", ")})`,
      ...fields.map((field) => first + PAYLOAD_NUMBER[field]),
    )
    .toArray();
  for (const field of fields) {
    const row = rows.find(({ key }) => key === first + PAYLOAD_NUMBER[field]);
    if (row === undefined) continue;
    if (row.object !== null) payloads[field] = { object: row.object, bytes: row.bytes ?? 0 };
    else if (row.body !== null) payloads[field] = { json: row.body };
  }
  return payloads;
}
