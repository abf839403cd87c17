import { LEAF_COLUMNS, RUN_COLUMNS, type RunLeaves, type TracedRunRow } from "../model/run-row.ts";
import { KEY_PARTS, type KeyParts, startsWithin } from "../filter/run-key.ts";
import { PAYLOAD_FIELDS, type PayloadField } from "../model/run-write.ts";
import type { ShardDatabase } from "./shard-database.ts";
import { payloadPlaceSql, payloadSql, type StoredPayload } from "./stored-payload.ts";

/** Where each payload of a run is stored: "" stands for a text in the run's row. */
export type PayloadPlaces = Record<PayloadField, StoredPayload>;

export type StoredRun = {
  key: KeyParts;
  row: TracedRunRow & RunLeaves;
  places: PayloadPlaces;
  /** The JSON text of `extra`. */
  extra: string | null;
};

/** Reads columns of those runs `r` with these ids that are here. */
export function readRunsById<Row extends Record<string, SqlStorageValue>>(
  { sql, segments }: Pick<ShardDatabase, "sql" | "segments">,
  columns: string,
  ids: Iterable<string>,
): Row[] {
  return segments.locate(ids).flatMap(({ span, ids: some }) =>
    sql
      .exec<Row>(
        `SELECT ${columns} FROM runs r
         WHERE ${startsWithin("r", span.from, span.to)} AND r.id IN (SELECT value FROM json_each(?))`,
        JSON.stringify(some),
      )
      .toArray(),
  );
}

/** Reads what must be known of runs to apply writes to them. */
export function readStoredRuns(db: ShardDatabase, ids: Iterable<string>): StoredRun[] {
  return readRunsById<Record<string, SqlStorageValue>>(db, STORED_COLUMNS, ids).map((row) => {
    const { extra_text: extra, key_high, key_low, ...columns } = row;
    const places: Partial<PayloadPlaces> = {};
    for (const field of PAYLOAD_FIELDS) {
      places[field] = columns[placeColumn(field)] ?? null;
      delete columns[placeColumn(field)];
    }
    return {
      key: { key_high, key_low } as KeyParts,
      row: columns as TracedRunRow & RunLeaves,
      places: places as PayloadPlaces,
      extra: extra as string | null,
    };
  });
}

const STORED_COLUMNS = [
  KEY_PARTS,
  ...[...RUN_COLUMNS, ...LEAF_COLUMNS].map((column) => `r.${column}`),
  ...PAYLOAD_FIELDS.map((field) => `${payloadPlaceSql("r", field)} AS ${placeColumn(field)}`),
  `${payloadSql("r", "extra")} AS extra_text`,
].join(", ");

function placeColumn(field: PayloadField): string {
  return `place_of_${field}`;
}
