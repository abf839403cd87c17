import type { PayloadField } from "../model/run-write.ts";
import type { KnownTraces } from "../filter/filter.ts";
import { pageRange, planPage } from "./page-range.ts";
import type { RunSelection } from "./selection.ts";
import type { PageQuery, RunPage, RunRecord } from "../model/run-page.ts";
import {
  PAYLOAD_NUMBER,
  PAYLOADS_PER_RUN,
  type PayloadRow,
  RUN_COLUMNS,
} from "../model/run-row.ts";

const COLUMNS = RUN_COLUMNS.map((column) => `r.${column}`).join(", ");

/** Reads runs of the selection in order of their start. Throws a FilterError. */
export function readPage(
  storage: SqlStorage,
  selection: RunSelection,
  query: PageQuery,
  known: KnownTraces | undefined,
): RunPage {
  const { limit } = query;
  const plan = planPage(storage, selection, query);
  const from = pageRange(selection, query, plan, known);
  const cursor = storage.exec<Omit<RunRecord, "payloads">>(
    `SELECT ${COLUMNS}, t.tier AS trace_tier, t.first_received_at AS trace_first_received_at
     ${from.text} LIMIT ?`,
    ...from.params,
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
  return { runs, next: plan.scanEnd };
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
