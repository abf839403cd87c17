import type { Payload, PayloadField } from "../model/run-write.ts";
import { PAYLOAD_COLUMN } from "../model/run-row.ts";

/**
 * How a payload is kept in its run's row: its JSON text; where it is in R2, as a BLOB of its size in
 * bytes, a space, and the key; or LONG, when the text has a row of its own in `long_payloads`.
 */
export type StoredPayload = string | ArrayBuffer | number | null;

const LONG = 1;

/** In UTF-16 units: all payloads of a run together have to fit into a row. */
const MAX_INLINE_CHARS = 16 * 1024;

export function isLong(payload: Payload): boolean {
  return "json" in payload && payload.json.length > MAX_INLINE_CHARS;
}

export function toStored(payload: Payload): StoredPayload {
  if ("json" in payload) return isLong(payload) ? LONG : payload.json;
  return new TextEncoder().encode(`${payload.bytes} ${payload.object}`).slice().buffer;
}

/** What `payloadSql` has read; null when there is none. */
export function fromStored(value: SqlStorageValue | undefined): Payload | null {
  if (typeof value === "string") return { json: value };
  if (!(value instanceof ArrayBuffer)) return null;
  const text = new TextDecoder().decode(value);
  const space = text.indexOf(" ");
  return { object: text.slice(space + 1), bytes: Number(text.slice(0, space)) };
}

/** Reads a payload of the row `alias` of `runs`, its text wherever that is. */
export function payloadSql(alias: string, field: PayloadField): string {
  const column = `${alias}.${PAYLOAD_COLUMN[field]}`;
  return `iif(typeof(${column}) IN ('integer', 'real'),
    (SELECT body FROM long_payloads WHERE run_id = ${alias}.id AND field = '${field}'), ${column})`;
}

/** The same without the text, in whose place is "". */
export function payloadPlaceSql(alias: string, field: PayloadField): string {
  const column = `${alias}.${PAYLOAD_COLUMN[field]}`;
  return `iif(typeof(${column}) = 'text', '', ${column})`;
}
