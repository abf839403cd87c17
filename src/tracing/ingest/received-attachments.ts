import { readLimited } from "../../lib/bytes.ts";
import { requireRoom } from "../../lib/local-disk.ts";
import type { Attachment, RunWrite } from "../model/run-write.ts";

type Received = {
  runId: string;
  name: string;
  mimeType: string;
  length: number | null;
  stream: ReadableStream<Uint8Array>;
};

/** Maximum bytes of an attachment whose length the client does not declare. */
const MAX_UNMEASURED_BYTES = 32 * 1024 * 1024;

/** Maximum attachments of a run. Its row lists them, and must stay below the 2 MB that a row may have. */
const MAX_PER_RUN = 400;
const MAX_MIME_TYPE_CHARS = 255;

/** The attachments of one request: each goes to R2 as it arrives, and is then added to a write of its run. */
export class ReceivedAttachments {
  readonly #env: Pick<Env, "PAYLOADS">;
  readonly #workspaceId: string;
  readonly #maxBytes: number;
  readonly #waiting = new Map<string, Attachment[]>();
  readonly #counts = new Map<string, number>();

  constructor(env: Pick<Env, "PAYLOADS">, workspaceId: string, maxBytes: number) {
    this.#env = env;
    this.#workspaceId = workspaceId;
    this.#maxBytes = maxBytes;
  }

  /**
   * Stores an attachment. Returns null, or the reason why it was not stored; the rest of the request can still
   * be read. Rethrows the errors of the stream.
   */
  async receive(received: Received): Promise<string | null> {
    const { runId, name, mimeType, length, stream } = received;
    const count = this.#counts.get(runId) ?? 0;
    if (count >= MAX_PER_RUN) return `a run should have at most ${MAX_PER_RUN} attachments`;
    if (mimeType.length > MAX_MIME_TYPE_CHARS) {
      return `its Content-Type should have at most ${MAX_MIME_TYPE_CHARS} characters`;
    }
    if (length !== null && length > this.#maxBytes) {
      return `should be no larger than ${this.#maxBytes} bytes`;
    }
    const object = `${this.#workspaceId}/attachments/${runId}/${crypto.randomUUID()}`;
    const options = { httpMetadata: { contentType: mimeType } };
    const { PAYLOADS } = this.#env;
    let bytes: number;
    if (length === null) {
      const collected = await readLimited(stream, MAX_UNMEASURED_BYTES);
      if (collected === null) {
        return `without a length, it should be no larger than ${MAX_UNMEASURED_BYTES} bytes`;
      }
      await requireRoom(this.#env, collected.byteLength);
      bytes = (await PAYLOADS.put(object, collected, options)).size;
    } else {
      await requireRoom(this.#env, length);
      bytes = await putStream(PAYLOADS, object, stream, length, options);
    }
    this.#counts.set(runId, count + 1);
    const waiting = this.#waiting.get(runId) ?? [];
    waiting.push({ name, mimeType, bytes, object });
    this.#waiting.set(runId, waiting);
    return null;
  }

  /** Returns the write with the attachments that arrived before it for its run. */
  addTo(write: RunWrite): RunWrite {
    const attachments = this.#waiting.get(write.id);
    if (attachments === undefined) return write;
    this.#waiting.delete(write.id);
    return { ...write, attachments };
  }

  /** Yields updates of runs whose attachments arrived after them, except for `excluded` runs. */
  *remaining(excluded: ReadonlySet<string>): Generator<RunWrite> {
    for (const [id, attachments] of this.#waiting) {
      if (excluded.has(id)) continue;
      this.#waiting.delete(id);
      yield {
        kind: "patch",
        id,
        identity: undefined,
        project: undefined,
        payloads: {},
        facts: {},
        attachments,
      };
    }
  }

  /** Deletes the attachments that were added to no write. */
  async discardWaiting(): Promise<void> {
    const objects = [...this.#waiting.values()].flat().map(({ object }) => object);
    this.#waiting.clear();
    await deleteObjects(this.#env.PAYLOADS, objects);
  }
}

/** Maximum number of objects that R2 deletes at once. */
const MAX_DELETED_AT_ONCE = 1000;

export async function deleteObjects(bucket: R2Bucket, objects: readonly string[]): Promise<void> {
  for (let start = 0; start < objects.length; start += MAX_DELETED_AT_ONCE) {
    await bucket.delete(objects.slice(start, start + MAX_DELETED_AT_ONCE));
  }
}

/** Puts a stream into R2, which has to know the length of a stream. Returns that length. */
async function putStream(
  bucket: R2Bucket,
  object: string,
  stream: ReadableStream<Uint8Array>,
  length: number,
  options: R2PutOptions,
): Promise<number> {
  const { readable, writable } = new FixedLengthStream(length);
  const [piped, stored] = await Promise.allSettled([
    stream.pipeTo(writable),
    bucket.put(object, readable, options),
  ]);
  // R2 reports a broken stream in its own words; the error of the stream says what is wrong.
  if (piped.status === "rejected") {
    // If the declared length is wrong, the stream breaks after its last byte, and R2 has stored the object.
    await bucket.delete(object);
    throw piped.reason;
  }
  if (stored.status === "rejected") throw stored.reason;
  return length;
}
