import type { ColumnarTexts } from "../../tracing/model/columnar-runs.ts";

type Stored = ColumnarTexts["stored"][number];

/** Where large payloads are, as R2 has it. */
export type PayloadStore = { get: (object: string) => Promise<OpenedPayload | null> };

/** `size` is in bytes; it is read once, by `body` or by `text`. */
export type OpenedPayload = {
  size: number;
  body: ReadableStream<Uint8Array>;
  text: () => Promise<string>;
};

/** What is opened ahead of its turn. Its bytes are read only then. */
const OPEN_AT_ONCE = 4;

/** Opens payloads of R2 in the order of their rows, some of them ahead. */
export class StoredTexts {
  readonly #bucket: PayloadStore;
  readonly #waiting: Stored[];
  readonly #opened: Promise<OpenedPayload | null>[] = [];

  constructor(bucket: PayloadStore, stored: readonly Stored[]) {
    this.#bucket = bucket;
    this.#waiting = [...stored];
  }

  /** The next one; null when it is gone. Its body has to be read, or cancelled. */
  async next(): Promise<OpenedPayload | null> {
    while (this.#opened.length < OPEN_AT_ONCE) {
      const stored = this.#waiting.shift();
      if (stored === undefined) break;
      const opening = this.#bucket.get(stored.object);
      // It fails where it is asked for.
      opening.catch(() => undefined);
      this.#opened.push(opening);
    }
    const next = this.#opened.shift();
    if (next === undefined) throw new Error("more payloads are read than there are");
    return next;
  }

  /** Lets go of what was opened and not read. */
  async close(): Promise<void> {
    for (const opening of this.#opened) {
      const object = await opening.catch(() => null);
      await object?.body.cancel();
    }
    this.#opened.length = 0;
  }
}
