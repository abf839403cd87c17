import { KEY_PARTS, startsBetween } from "../filter/run-key.ts";
import { readAttachments } from "../model/run-row.ts";
import { PAYLOAD_FIELDS } from "../model/run-write.ts";
import { fromStored, payloadPlaceSql } from "./stored-payload.ts";
import { StoredChildren } from "./stored-children.ts";

/** The rows `r` of the runs of traces, a JSON list of whose ids is the one parameter. */
const RUNS_OF_TRACES = `FROM traces t CROSS JOIN runs r
  ON ${startsBetween("r", "t.first_start", "t.last_start")} AND r.trace_id = t.trace_id
  WHERE t.trace_id IN (SELECT value FROM json_each(?))`;

type DeletedRun = {
  id: string;
  key_high: number;
  key_low: number;
  parent_run_id: string | null;
  attachments: string | null;
};

/**
 * Deletes every row of these traces; inside of a transaction. Their R2 objects become garbage.
 */
export function deleteTraceRows(sql: SqlStorage, traceIds: readonly string[]): void {
  const ids = JSON.stringify(traceIds);
  const places = PAYLOAD_FIELDS.map((field) => `${payloadPlaceSql("r", field)} AS p_${field}`);
  const runs = sql
    .exec<DeletedRun & Record<string, SqlStorageValue>>(
      `SELECT r.id, ${KEY_PARTS}, r.parent_run_id, r.attachments, ${places.join(", ")} ${RUNS_OF_TRACES}`,
      ids,
    )
    .toArray();
  for (const run of runs) {
    for (const field of PAYLOAD_FIELDS) {
      const payload = fromStored(run[`p_${field}`]);
      if (payload !== null && "object" in payload) discard(sql, payload.object);
    }
    for (const { object } of readAttachments(run.attachments)) discard(sql, object);
  }
  const runIds = JSON.stringify(runs.map(({ id }) => id));
  const ofRuns = "IN (SELECT value FROM json_each(?))";
  sql.exec(`DELETE FROM feedback WHERE run_id ${ofRuns}`, runIds);
  sql.exec(`DELETE FROM long_payloads WHERE run_id ${ofRuns}`, runIds);
  sql.exec(`DELETE FROM foreign_children WHERE parent_run_id ${ofRuns}`, runIds);
  new StoredChildren(sql).forgetParents(runs.flatMap(({ parent_run_id: id }) => id ?? []));
  sql.exec(
    `DELETE FROM runs WHERE key IN (
       SELECT ((value ->> 0) << 10) + (value ->> 1) FROM json_each(?))`,
    JSON.stringify(runs.map(({ key_high, key_low }) => [key_high, key_low])),
  );
  sql.exec(`DELETE FROM trace_parts WHERE trace_id ${ofRuns}`, ids);
  sql.exec(`DELETE FROM traces WHERE trace_id ${ofRuns}`, ids);
}

/** The ids of the feedback about runs of these traces. */
export function feedbackOf(sql: SqlStorage, traceIds: readonly string[]): string[] {
  return sql
    .exec<{ id: string }>(
      `SELECT id FROM feedback WHERE run_id IN (SELECT r.id ${RUNS_OF_TRACES})`,
      JSON.stringify(traceIds),
    )
    .toArray()
    .map(({ id }) => id);
}

/** Attachments are not under the shard's own prefix: they were there before their run was. */
export function discardAttachments(sql: SqlStorage): void {
  sql.exec(
    `INSERT OR IGNORE INTO garbage (object)
     SELECT a.value ->> 'object' FROM runs r, json_each(r.attachments) a
     WHERE r.attachments IS NOT NULL`,
  );
}

function discard(sql: SqlStorage, object: string): void {
  sql.exec("INSERT OR IGNORE INTO garbage (object) VALUES (?)", object);
}
