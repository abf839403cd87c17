import { concatBytes } from "../../lib/bytes.ts";
import type { Attachment, RunWrite } from "../run-write.ts";
import type { RunFailure } from "./run-failure.ts";

type Received = {
  runId: string;
  name: string;
  mimeType: string;
  length: number | null;
  stream: ReadableStream<Uint8Array>;
};

/** Of an attachment whose length the client does not say. */
const MAX_UNMEASURED_BYTES = 32 * 1024 * 1024;

/** The attachments of one request: each goes to R2 as it arrives, and then into a write of its run. */
export class ReceivedAttachments {
  readonly #bucket: R2Bucket;
  readonly #workspaceId: string;
  readonly #waiting = new Map<string, Attachment[]>();
  readonly #objects = new Map<string, string[]>();

  constructor(bucket: R2Bucket, workspaceId: string) {
    this.#bucket = bucket;
    this.#workspaceId = workspaceId;
  }

  async receive({ runId, name, mimeType, length, stream }: Received): Promise<void> {
    const object = `${this.#workspaceId}/attachments/${runId}/${crypto.randomUUID()}`;
    const { size } = await this.#bucket.put(object, await sized(stream, length), {
      httpMetadata: { contentType: mimeType },
    });
    push(this.#objects, runId, object);
    push(this.#waiting, runId, { name, mimeType, bytes: size, object });
  }

  /** The write, with what came before it for its run. */
  addTo(write: RunWrite): RunWrite {
    const attachments = this.#waiting.get(write.id);
    if (attachments === undefined) return write;
    this.#waiting.delete(write.id);
    return { ...write, attachments };
  }

  /** Updates of runs whose attachments came after them. */
  *remaining(): Generator<RunWrite> {
    for (const [id, attachments] of this.#waiting) {
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
    this.#waiting.clear();
  }

  /** Deletes what came for runs that were not stored. */
  async discardOf(failures: readonly RunFailure[]): Promise<void> {
    const objects = failures.flatMap(({ runId }) => this.#objects.get(runId ?? "") ?? []);
    if (objects.length > 0) await this.#bucket.delete(objects);
  }
}

/** R2 has to know how long a stream is. */
async function sized(
  stream: ReadableStream<Uint8Array>,
  length: number | null,
): Promise<ReadableStream | Uint8Array> {
  if (length !== null) {
    const { readable, writable } = new FixedLengthStream(length);
    void stream.pipeTo(writable).catch(() => undefined);
    return readable;
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of stream) {
    size += chunk.byteLength;
    if (size > MAX_UNMEASURED_BYTES) {
      throw new RangeError(`an attachment without a length is larger than ${MAX_UNMEASURED_BYTES}`);
    }
    chunks.push(chunk);
  }
  return concatBytes(chunks);
}

function push<T>(map: Map<string, T[]>, key: string, value: T): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}
