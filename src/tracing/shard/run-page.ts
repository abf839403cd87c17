import type { KnownTraces } from "../filter/filter.ts";
import type { PageQuery, RunPage, RunRecord } from "../model/run-page.ts";
import { RUN_COLUMNS } from "../model/run-row.ts";
import type { PayloadField } from "../model/run-write.ts";
import { spanSql, piecesOf } from "./page-range.ts";
import { isFiltered, planTurn } from "./scan-turn.ts";
import type { RunSelection } from "./selection.ts";
import type { ShardDatabase } from "./shard-database.ts";
import { fromStored, payloadSql } from "./stored-payload.ts";

const COLUMNS = RUN_COLUMNS.map((column) => `r.${column}`).join(", ");
const TRACE_COLUMNS = ["tier", "first_received_at"]
  .map((name) => `(SELECT ${name} FROM traces WHERE trace_id = r.trace_id) AS trace_${name}`)
  .join(", ");

/** Reads the selected runs in the order of their start. Throws a FilterError. */
export function readPage(
  db: ShardDatabase,
  selection: RunSelection,
  query: PageQuery,
  known: KnownTraces | undefined,
): RunPage {
  const { limit, effort } = query;
  const all = piecesOf(db.segments, selection, query);
  const { pieces, end } = isFiltered(selection)
    ? planTurn(db, selection, { pieces: all, place: query, turn: { effort, perRun: 0 } })
    : { pieces: all, end: null };
  const columns = [COLUMNS, TRACE_COLUMNS, ...query.payloads.map(payloadColumn)].join(", ");
  const runs: RunRecord[] = [];
  let bytes = 0;
  for (const piece of pieces) {
    const { text, params } = spanSql(
      selection,
      piece,
      { place: query, end, limit: limit + 1 - runs.length },
      known,
    );
    const rows = db.sql.exec<Omit<RunRecord, "payloads"> & Record<string, SqlStorageValue>>(
      `SELECT ${columns} FROM ${text}`,
      ...params,
    );
    for (const row of rows) {
      const last = runs.at(-1);
      if (last !== undefined && (runs.length === limit || bytes > query.maxBytes)) {
        return { runs, next: { startTime: last.start_time, id: last.id } };
      }
      const run = recordOf(row, query.payloads);
      for (const payload of Object.values(run.payloads)) {
        if ("json" in payload) bytes += payload.json.length;
      }
      runs.push(run);
    }
  }
  return { runs, next: end };
}

function payloadColumn(field: PayloadField): string {
  return `${payloadSql("r", field)} AS payload_${field}`;
}

function recordOf(
  row: Omit<RunRecord, "payloads"> & Record<string, SqlStorageValue>,
  fields: readonly PayloadField[],
): RunRecord {
  const payloads: RunRecord["payloads"] = {};
  for (const field of fields) {
    const payload = fromStored(row[`payload_${field}`]);
    if (payload !== null) payloads[field] = payload;
    delete row[`payload_${field}`];
  }
  return { ...row, payloads };
}
