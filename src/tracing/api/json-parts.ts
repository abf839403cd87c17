/** A piece of JSON text, or where in R2 a piece is. */
export type JsonPart = string | { object: string };

/** A member's name and its JSON; undefined: it is left out. */
export type JsonMember = readonly [name: string, value: JsonPart | undefined];

/** A JSON object in pieces, so that a large member can stay in R2 until it is sent. */
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

/** Some of the items of an answer, and where more begin. */
export type ItemChunk<Position> = { items: JsonPart[][]; taken: number; next: Position | null };

export type ItemSource<Position> = {
  /**
   * Reads so many; `taken` may be more than there are items, when some were left out. Null when no more
   * may be read for this answer: it ends, and the next page begins there.
   */
  read: (after: Position, limit: number) => Promise<ItemChunk<Position> | null>;
  /** How many are held at once. */
  chunk: number;
  /** How many in all; null: all there are. */
  limit: number | null;
  /** What follows the items, when these are all, or when the next page begins behind `next`. */
  end: (next: Position | null) => Record<string, unknown>;
};

/** How many to read next, when so many are taken already. */
export function nextLimit(
  { chunk, limit }: { chunk: number; limit: number | null },
  taken: number,
): number {
  return Math.min(chunk, (limit ?? Infinity) - taken);
}

/** `{"items": [...], ...}`, of which only a chunk is in memory at a time. */
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
