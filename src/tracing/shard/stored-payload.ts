import type { Payload, PayloadField } from "../model/run-write.ts";
import { PAYLOAD_COLUMN } from "../model/run-row.ts";
import type { ShardRef } from "./shard-ref.ts";

/**
 * The form in which a run's row stores a payload: its JSON text; for a payload in R2, a BLOB of its size in bytes, a
 * space, and the key; or LONG, if the text has its own row in `long_payloads`.
 */
export type StoredPayload = string | ArrayBuffer | number | null;

const LONG = 1;

/** In UTF-16 code units: all payloads of a run together have to fit into a row. */
const MAX_INLINE_CHARS = 16 * 1024;

export function isLong(payload: Payload): boolean {
  return "json" in payload && payload.json.length > MAX_INLINE_CHARS;
}

export function toStored(payload: Payload): StoredPayload {
  if ("json" in payload) return isLong(payload) ? LONG : payload.json;
  return new TextEncoder().encode(`${payload.bytes} ${payload.object}`).slice().buffer;
}

/** Converts what `payloadSql` has read; null if there is no payload. */
export function fromStored(value: SqlStorageValue | undefined): Payload | null {
  if (typeof value === "string") return { json: value };
  if (!(value instanceof ArrayBuffer)) return null;
  const text = new TextDecoder().decode(value);
  const space = text.indexOf(" ");
  return { object: text.slice(space + 1), bytes: Number(text.slice(0, space)) };
}

/** Returns SQL that reads a payload of the row `alias` of `runs`, with its text wherever that is stored. */
export function payloadSql(alias: string, field: PayloadField): string {
  const column = `${alias}.${PAYLOAD_COLUMN[field]}`;
  return `iif(typeof(${column}) IN ('integer', 'real'),
    (SELECT body FROM long_payloads WHERE run_id = ${alias}.id AND field = '${field}'), ${column})`;
}

/** Like `payloadSql`, with "" in place of a text. */
export function payloadPlaceSql(alias: string, field: PayloadField): string {
  const column = `${alias}.${PAYLOAD_COLUMN[field]}`;
  return `iif(typeof(${column}) = 'text', '', ${column})`;
}

const GARBAGE_PER_STEP = 1000;

const KEYS_PER_DELETE = 1000;

/** Returns the R2 prefix of the large payloads of a shard's runs. */
export function shardPrefix({ workspaceId, projectId, day, bucket }: ShardRef): string {
  return `${workspaceId}/runs/${projectId}/${day}-${bucket}/`;
}

/** Returns a new key for each upload, so that a leftover of a retry is never taken for another payload. */
export function payloadObjectKey(ref: ShardRef, runId: string, field: string): string {
  return `${shardPrefix(ref)}${runId}/${field}/${crypto.randomUUID()}`;
}

/** Returns the workspace that owns an object, with which every key begins. */
export function workspaceOfObject(key: string): string {
  return key.slice(0, key.indexOf("/"));
}

/** Deletes the objects under the prefix that were stored before a time in epoch milliseconds. */
export async function deletePayloadsUnder(
  bucket: R2Bucket,
  prefix: string,
  before: number,
): Promise<void> {
  let cursor: string | undefined;
  do {
    const page = await bucket.list({
      prefix,
      limit: KEYS_PER_DELETE,
      ...(cursor === undefined ? {} : { cursor }),
    });
    const old = page.objects.filter(({ uploaded }) => uploaded.getTime() < before);
    if (old.length > 0) await bucket.delete(old.map(({ key }) => key));
    cursor = page.truncated ? page.cursor : undefined;
  } while (cursor !== undefined);
}

/** The R2 objects of one shard that nothing refers to any more. */
export class Garbage {
  readonly #sql: SqlStorage;
  readonly #bucket: R2Bucket;

  constructor(sql: SqlStorage, bucket: R2Bucket) {
    this.#sql = sql;
    this.#bucket = bucket;
  }

  isEmpty(): boolean {
    return this.#sql.exec("SELECT 1 FROM garbage LIMIT 1").toArray().length === 0;
  }

  /** Deletes the objects; each of them stays on the list until it is certainly deleted. */
  async collect(): Promise<void> {
    for (;;) {
      const objects = this.#sql
        .exec<{ object: string }>(`SELECT object FROM garbage LIMIT ${GARBAGE_PER_STEP}`)
        .toArray()
        .map(({ object }) => object);
      if (objects.length === 0) return;
      await this.#bucket.delete(objects);
      this.#sql.exec(
        "DELETE FROM garbage WHERE object IN (SELECT value FROM json_each(?))",
        JSON.stringify(objects),
      );
    }
  }
}
