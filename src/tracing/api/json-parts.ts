/** A piece of JSON text, or the key of the R2 object that holds one. */
export type JsonPart = string | { object: string };

/** A member's name and its JSON value. A member whose value is undefined is left out. */
export type JsonMember = readonly [name: string, value: JsonPart | undefined];

/** Builds a JSON object in pieces, so that a large member can stay in R2 until it is sent. */
export function jsonObject(members: Iterable<JsonMember>): JsonPart[] {
  const parts: JsonPart[] = [];
  let text = "{";
  let separator = "";
  for (const [name, value] of members) {
    if (value === undefined) continue;
    text += `${separator}${JSON.stringify(name)}:`;
    separator = ",";
    if (typeof value === "string") {
      text += value;
    } else {
      parts.push(text, value);
      text = "";
    }
  }
  return [...parts, `${text}}`];
}

/** Some of the items of a response, and the position after which more begin; null if these are the last. */
export type ItemChunk<Position> = { items: JsonPart[][]; taken: number; next: Position | null };

export type ItemSource<Position> = {
  /**
   * Reads up to `limit` items. `taken` exceeds the number of items if some were left out. Returns null if no
   * more may be read for this response: the response ends, and the next page begins at `after`.
   */
  read: (after: Position, limit: number) => Promise<ItemChunk<Position> | null>;
  /** Maximum number of items in memory at once. */
  chunk: number;
  /** Maximum number of items in the response; null for no limit. */
  limit: number | null;
  /** Returns the members after the items. The next page begins behind `next`; null if there is none. */
  end: (next: Position | null) => Record<string, unknown>;
};

/** Returns how many items to read next, after `taken` items were read. */
export function nextLimit(
  { chunk, limit }: { chunk: number; limit: number | null },
  taken: number,
): number {
  return Math.min(chunk, (limit ?? Infinity) - taken);
}

/** Yields `{"items": [...], ...}` with only one chunk of items in memory at a time. */
export async function* itemsJson<Position>(
  first: ItemChunk<Position>,
  source: ItemSource<Position>,
): AsyncGenerator<JsonPart> {
  let chunk = first;
  let { taken } = first;
  let separator = "";
  yield '{"items":[';
  for (;;) {
    for (const item of chunk.items) {
      yield separator;
      yield* item;
      separator = ",";
    }
    const limit = nextLimit(source, taken);
    if (chunk.next === null || limit === 0) break;
    const following = await source.read(chunk.next, limit);
    if (following === null) break;
    chunk = following;
    taken += chunk.taken;
  }
  const end = JSON.stringify(source.end(chunk.next));
  yield `]${end === "{}" ? end.slice(1) : `,${end.slice(1)}`}`;
}
