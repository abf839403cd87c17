import type {
  ItemPlace,
  ItemVector,
  Ranked,
  Ranking,
  StoredItem,
  StoreOperation,
} from "../../graph-runtime/store-operations.ts";
import type { ReadBudget } from "../read-budget.ts";

/** A vector of an item, normalized to length 1, so that similarity is just a dot product. */
type StoredVector = ItemPlace & { vector: Float32Array };

type VectorRow = ItemPlace & { vector: ArrayBuffer };

/** The vectors that similarity searches compare: 32-bit floats, ordered by the items' namespaces and keys. */
export class VectorTable {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  create(): void {
    this.#sql.exec(`
      CREATE TABLE IF NOT EXISTS vectors (
        namespace TEXT NOT NULL,
        key TEXT NOT NULL,
        path TEXT NOT NULL,            -- which text of the item
        vector BLOB NOT NULL,          -- 32-bit floats, little-endian
        PRIMARY KEY (namespace, key, path)
      ) WITHOUT ROWID;
    `);
  }

  /** Replaces the vectors of an item. */
  replace({ namespace, key }: ItemPlace, vectors: readonly ItemVector[] = []): void {
    this.#sql.exec("DELETE FROM vectors WHERE namespace = ? AND key = ?", namespace, key);
    for (const { path, vector } of vectors) {
      this.#sql.exec(
        "INSERT OR REPLACE INTO vectors (namespace, key, path, vector) VALUES (?, ?, ?, ?)",
        namespace,
        key,
        path,
        normalized(vector).buffer,
      );
    }
  }

  /** Yields the vectors of the namespaces between two texts, starting after an item. Each is read on demand. */
  *between(
    { from, to }: { from: string; to: string },
    after: ItemPlace | null,
  ): Generator<StoredVector> {
    const select = "SELECT namespace, key, vector FROM vectors WHERE";
    const order = "ORDER BY namespace, key, path";
    if (after !== null) {
      yield* stored(
        this.#sql.exec<VectorRow>(
          `${select} namespace = ? AND key > ? ${order}`,
          after.namespace,
          after.key,
        ),
      );
    }
    yield* stored(
      this.#sql.exec<VectorRow>(
        `${select} namespace > ? AND namespace < ? ${order}`,
        after?.namespace ?? from,
        to,
      ),
    );
  }
}

function* stored(rows: Iterable<VectorRow>): Generator<StoredVector> {
  for (const { namespace, key, vector } of rows) {
    yield { namespace, key, vector: new Float32Array(vector) };
  }
}

/** Returns the vector scaled to length 1; a zero vector is unchanged, and is similar to nothing. */
function normalized(vector: Float32Array): Float32Array<ArrayBuffer> {
  let squares = 0;
  for (const value of vector) squares += value * value;
  const length = Math.sqrt(squares) || 1;
  return Float32Array.from(vector, (value) => value / length);
}

/** A search for items that are similar to a vector. */
export type VectorSearch = Extract<StoreOperation, { op: "search" }> & { vector: Float32Array };

/** The score of a vector with a different length, which comes from a model that the project used before. */
const INCOMPARABLE = -Infinity;

/** Access to the items of a search. */
export type SearchedItems = {
  /** Whether the item matches the search. */
  accepts(place: ItemPlace): boolean;
  /** Returns the item for the answer; null if it no longer exists, or does not match the search. */
  read(place: ItemPlace): StoredItem | null;
};

type Tables = {
  vectors: VectorTable;
  items: SearchedItems;
  /** Bounds between which the texts of the searched namespaces lie. */
  range: { from: string; to: string };
  budget: ReadBudget;
};

/**
 * Finds the items with the highest cosine similarity to a vector. The result is exact: every vector in the range
 * is compared. Turns compare vectors and remember the best items' places; once all are compared, the items are
 * read.
 */
export function searchNear(
  search: VectorSearch,
  tables: Tables,
): { found: StoredItem[]; rest: VectorSearch | null } {
  const { ranking = null, limit, offset } = search;
  const { items, budget } = tables;
  const found: StoredItem[] = [];
  if (limit <= 0) return { found, rest: null };
  const isRanked = ranking !== null && ranking.after === null;
  const ranked = isRanked ? ranking : rank(search, ranking, tables);
  if (ranked.after !== null) return { found, rest: { ...search, ranking: ranked } };
  const places = ranked.best.slice(offset, offset + limit);
  for (const [index, place] of places.entries()) {
    if (budget.isSpent) {
      const best = places.slice(index);
      const rest = { ...search, offset: 0, limit: best.length, ranking: { best, after: null } };
      return { found, rest };
    }
    const item = items.read(place);
    if (item !== null) found.push({ ...item, score: place.score });
  }
  return { found, rest: null };
}

/**
 * Compares vectors until all are compared or the budget is spent. It always compares some, and never splits an
 * item.
 */
function rank(
  { vector, limit, offset }: VectorSearch,
  before: Ranking | null,
  { vectors, items, range, budget }: Tables,
): Ranking {
  const query = normalized(vector);
  const best = [...(before?.best ?? [])];
  let item: Ranked | null = null;
  const end = (compared: Ranked): void => {
    const isFull = best.length >= limit + offset;
    if (compared.score === INCOMPARABLE) return;
    if (isFull && compared.score <= (best.at(-1)?.score ?? -1)) return;
    if (!items.accepts(compared)) return;
    const index = best.findLastIndex(({ score }) => score >= compared.score) + 1;
    best.splice(index, 0, compared);
    if (isFull) best.pop();
  };
  for (const { namespace, key, vector: other } of vectors.between(range, before?.after ?? null)) {
    if (item !== null && (item.key !== key || item.namespace !== namespace)) {
      end(item);
      if (budget.isSpent) return { best, after: { namespace: item.namespace, key: item.key } };
      item = null;
    }
    budget.count(1, other.byteLength);
    const score = other.length === query.length ? cosine(query, other) : INCOMPARABLE;
    if (item === null || score > item.score) item = { namespace, key, score };
  }
  if (item !== null) end(item);
  return { best, after: null };
}

/** Returns the cosine of vectors with length 1. It is clamped, because 32-bit floats are rounded. */
function cosine(left: Float32Array, right: Float32Array): number {
  return Math.max(-1, Math.min(1, product(left, right)));
}

/** Uses four independent sums, because each addition waits for the previous one. */
function product(left: Float32Array, right: Float32Array): number {
  let [a, b, c, d] = [0, 0, 0, 0];
  const whole = left.length - (left.length % 4);
  for (let index = 0; index < whole; index += 4) {
    a += at(left, index) * at(right, index);
    b += at(left, index + 1) * at(right, index + 1);
    c += at(left, index + 2) * at(right, index + 2);
    d += at(left, index + 3) * at(right, index + 3);
  }
  for (let index = whole; index < left.length; index += 1) a += at(left, index) * at(right, index);
  return a + b + c + d;
}

function at(vector: Float32Array, index: number): number {
  return vector[index] ?? 0;
}
