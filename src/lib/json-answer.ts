import { readLimited } from "./bytes.ts";
import { log } from "./log.ts";

/** JSON text to respond with: a string when it is short, otherwise a stream of its UTF-8. */
export type JsonText = string | ReadableStream<Uint8Array>;

/**
 * Maximum characters of a string; longer text is streamed. One RPC message carries 32 MiB, with up to two bytes
 * per character.
 */
const MAX_TEXT_CHARS = 1024 * 1024;

const CHUNK_BYTES = 256 * 1024;

/**
 * Joins items that are JSON text already into a JSON list. Items are fetched as the reader consumes them, so a
 * list of any length needs the memory of one item. Rejects when fetching an item fails within the first
 * MAX_TEXT_CHARS characters; a later failure breaks the stream off.
 */
export function jsonList(items: AsyncIterable<string>): Promise<JsonText> {
  return joinParts(partsOfList(items));
}

/** Returns an object whose only member is a list, fetched in the same way as that of `jsonList`. */
export function jsonListAs(member: string, items: AsyncIterable<string>): Promise<JsonText> {
  return joinParts(partsOfMember(member, items));
}

/** Returns a list with one item per row, made by `toItem`. */
export function jsonListOf<Row>(
  rows: AsyncIterable<Row>,
  toItem: (row: Row) => object,
): Promise<JsonText> {
  return jsonList(textsOf(rows, toItem));
}

async function* textsOf<Row>(
  rows: AsyncIterable<Row>,
  toItem: (row: Row) => object,
): AsyncGenerator<string> {
  for await (const row of rows) yield JSON.stringify(toItem(row));
}

/** Returns one JSON value of any size. */
export async function jsonText(text: string): Promise<JsonText> {
  return text.length <= MAX_TEXT_CHARS ? text : streamOf(text, emptyParts());
}

export function isJsonText(value: unknown): value is JsonText {
  return typeof value === "string" || value instanceof ReadableStream;
}

/** Reads the whole text; returns null when a stream is longer than `maxBytes`. */
export async function readJsonText(json: JsonText, maxBytes: number): Promise<string | null> {
  if (typeof json === "string") return json;
  const bytes = await readLimited(json, maxBytes);
  return bytes === null ? null : new TextDecoder().decode(bytes);
}

async function* partsOfList(items: AsyncIterable<string>): AsyncGenerator<string, void> {
  let separator = "[";
  for await (const item of items) {
    yield separator + item;
    separator = ",";
  }
  yield separator === "[" ? "[]" : "]";
}

async function* partsOfMember(
  member: string,
  items: AsyncIterable<string>,
): AsyncGenerator<string, void> {
  yield `{${JSON.stringify(member)}:`;
  yield* partsOfList(items);
  yield "}";
}

async function* emptyParts(): AsyncGenerator<string, void> {}

async function joinParts(parts: AsyncGenerator<string, void>): Promise<JsonText> {
  let head = "";
  while (head.length <= MAX_TEXT_CHARS) {
    const part = await parts.next();
    if (part.done === true) return head;
    head += part.value;
  }
  return streamOf(head, parts);
}

function streamOf(head: string, parts: AsyncGenerator<string, void>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let rest = encoder.encode(head);
  const pull = async (controller: ReadableByteStreamController): Promise<void> => {
    while (rest.byteLength === 0) {
      const part = await parts.next();
      if (part.done === true) {
        controller.close();
        controller.byobRequest?.respond(0);
        return;
      }
      rest = encoder.encode(part.value);
    }
    // Enqueues a copy, because the stream transfers the buffer that it is given.
    controller.enqueue(rest.slice(0, CHUNK_BYTES));
    rest = rest.subarray(CHUNK_BYTES);
  };
  return new ReadableStream({
    type: "bytes",
    pull: (controller) =>
      pull(controller).catch((error: unknown) => {
        log("error", "error", { event: "answer_broken_off", error: String(error) });
        throw error;
      }),
    cancel: async () => {
      await parts.return();
    },
  });
}
