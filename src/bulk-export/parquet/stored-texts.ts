import type { ColumnarTexts } from "../../tracing/model/columnar-runs.ts";

type Stored = ColumnarTexts["stored"][number];

/** The store of large payloads, with the interface of R2. */
export type PayloadStore = { get: (object: string) => Promise<OpenedPayload | null> };

/** A payload of `size` bytes. It can be read once, by `body` or by `text`. */
export type OpenedPayload = {
  size: number;
  body: ReadableStream<Uint8Array>;
  text: () => Promise<string>;
};

/** Maximum payloads that are opened ahead of their turn. Their bytes are read only in turn. */
const OPEN_AT_ONCE = 4;

/** Opens payloads in R2 in the order of their rows, some of them ahead. */
export class StoredTexts {
  readonly #bucket: PayloadStore;
  readonly #waiting: Stored[];
  readonly #opened: Promise<OpenedPayload | null>[] = [];

  constructor(bucket: PayloadStore, stored: readonly Stored[]) {
    this.#bucket = bucket;
    this.#waiting = [...stored];
  }

  /** Returns the next payload; null when it is gone. Its body has to be read or cancelled. */
  async next(): Promise<OpenedPayload | null> {
    while (this.#opened.length < OPEN_AT_ONCE) {
      const stored = this.#waiting.shift();
      if (stored === undefined) break;
      const opening = this.#bucket.get(stored.object);
      // A failure is reported when the payload's turn comes.
      opening.catch(() => undefined);
      this.#opened.push(opening);
    }
    const next = this.#opened.shift();
    if (next === undefined) throw new Error("more payloads are read than there are");
    return next;
  }

  /** Releases payloads that were opened and not read. */
  async close(): Promise<void> {
    for (const opening of this.#opened) {
      const object = await opening.catch(() => null);
      await object?.body.cancel();
    }
    this.#opened.length = 0;
  }
}
