import { Buffer } from "node:buffer";
import { requireRoom } from "../../lib/local-disk.ts";
import { clipText } from "../model/clip-text.ts";
import { payloadObjectKey } from "../shard/payload-objects.ts";
import type { ShardRef } from "../shard/shard-ref.ts";
import { PAYLOAD_FIELDS, type RunWrite } from "../model/run-write.ts";

/** Texts of this length, in UTF-16 units, and longer ones go to R2. */
const LARGE_CHARS = 64 * 1024;

const ERROR_HEAD_CHARS = 2000;

/** Puts large payloads to R2, and a reference into the write in their place. */
export async function uploadPayloads(
  env: Pick<Env, "PAYLOADS">,
  ref: ShardRef,
  writes: readonly RunWrite[],
): Promise<RunWrite[]> {
  const moved: RunWrite[] = [];
  for (const write of writes) {
    const payloads = { ...write.payloads };
    const { error } = payloads;
    const facts = { ...write.facts };
    if (error !== undefined && "json" in error) facts.errorHead = errorHead(error.json);
    for (const field of PAYLOAD_FIELDS) {
      const payload = payloads[field];
      // `extra` is merged by the shard, and bounded.
      if (field === "extra" || payload === undefined || !("json" in payload)) continue;
      if (payload.json.length < LARGE_CHARS) continue;
      const key = payloadObjectKey(ref, write.id, field);
      await requireRoom(env, Buffer.byteLength(payload.json));
      // One after the other: several of 20 MB at once would not fit into memory.
      const stored = await env.PAYLOADS.put(key, payload.json, {
        httpMetadata: { contentType: "application/json" },
      });
      payloads[field] = { object: key, bytes: stored.size };
    }
    moved.push({ ...write, payloads, facts });
  }
  return moved;
}

/** Deletes what was put for writes that are not stored. */
export async function discardPayloads(
  bucket: R2Bucket,
  writes: readonly RunWrite[],
): Promise<void> {
  const objects = writes.flatMap(({ payloads }) =>
    Object.values(payloads).flatMap((payload) => ("object" in payload ? [payload.object] : [])),
  );
  if (objects.length > 0) await bucket.delete(objects);
}

/** The error's first characters; `json` is a JSON string. */
function errorHead(json: string): string {
  return clipText(JSON.parse(json) as string, ERROR_HEAD_CHARS);
}
