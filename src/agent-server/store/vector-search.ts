import type {
  ItemPlace,
  Ranked,
  Ranking,
  StoredItem,
  StoreOperation,
} from "../../graph-runtime/store-operations.ts";
import type { ReadBudget } from "../read-budget.ts";
import { normalized, type VectorTable } from "./vector-table.ts";

/** A search for what is near to a vector. */
export type VectorSearch = Extract<StoreOperation, { op: "search" }> & { vector: Float32Array };

/** The score of a vector of another length: of another model, which the project had before. */
const INCOMPARABLE = -Infinity;

/** What a search asks of items. */
export type SearchedItems = {
  /** Whether the item is one that the search is for. */
  accepts(place: ItemPlace): boolean;
  /** The item for the answer; null when it is not there any more, or not what the search is for. */
  read(place: ItemPlace): StoredItem | null;
};

type Tables = {
  vectors: VectorTable;
  items: SearchedItems;
  /** The texts of the namespaces that are searched are between these. */
  range: { from: string; to: string };
  budget: ReadBudget;
};

/**
 * Finds the items nearest to a vector, by cosine: exactly, by a look at each vector in the range. Turns compare
 * vectors and remember the best places; when all were compared, the items are read.
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

/** Compares until all are compared or the budget is spent, but always some, and an item's vectors together. */
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

/** Of vectors whose length is 1, but for what 32 bits round. */
function cosine(left: Float32Array, right: Float32Array): number {
  return Math.max(-1, Math.min(1, product(left, right)));
}

/** Four sums at once, because each addition waits for the one before it. */
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
