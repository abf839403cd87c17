import type {
  ItemPlace,
  PutOperation,
  StoredItem,
  StoreOperation,
  StorePosition,
} from "../../graph-runtime/store-operations.ts";
import { matchesMetadata, type Visibility } from "../../lib/metadata-filter.ts";
import type { ReadBudget } from "../read-budget.ts";
import { ExpiryTable } from "./expiry-table.ts";
import { oversizedField } from "./check-operations.ts";
import { matchesFilter, matchesNamespace } from "./store-filter.ts";
import { type SearchedItems, searchNear, type VectorSearch, VectorTable } from "./vector-table.ts";

type Get = Extract<StoreOperation, { op: "get" }>;
type Search = Extract<StoreOperation, { op: "search" }>;
type ListNamespaces = Extract<StoreOperation, { op: "list_namespaces" }>;

/**
 * The items found before the budget was spent; `rest` is the operation that finds the remaining ones, null if
 * none.
 */
export type StorePage<T> = { found: T[]; rest: StoreOperation | null };

type ItemRow = StorePosition & { value: string; created_at: number };

/** Up to this number of items below a prefix are sorted in memory. If there are more, all items are read in order. */
const SORTED_ROWS = 2000;
const SORTED_CHARS = 1024 * 1024;

/** Maximum number and size of the expired items that are removed in one sweep. */
const SWEPT = { rows: 500, bytes: 8 * 1024 * 1024 };

const NEWEST_FIRST = "ORDER BY updated_at DESC, namespace, key";

/**
 * The items of a store. A namespace is stored as the JSON text of its labels. An expired item is treated as
 * missing, even before a sweep has removed it.
 */
export class ItemTable {
  readonly expiries: ExpiryTable;
  readonly #vectors: VectorTable;
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    this.expiries = new ExpiryTable(sql);
    this.#vectors = new VectorTable(sql);
  }

  create(): void {
    this.#sql.exec(`
      CREATE TABLE IF NOT EXISTS items (
        namespace TEXT NOT NULL,       -- JSON array of labels
        key TEXT NOT NULL,
        value TEXT NOT NULL,           -- JSON object
        created_at INTEGER NOT NULL,   -- epoch ms
        updated_at INTEGER NOT NULL,
        PRIMARY KEY (namespace, key)
      );
      CREATE INDEX IF NOT EXISTS items_by_update ON items (updated_at DESC, namespace, key);
      CREATE INDEX IF NOT EXISTS items_by_namespace ON items (namespace, updated_at, key);
    `);
    this.expiries.create();
    this.#vectors.create();
  }

  get(operation: Get, budget: ReadBudget, seenBy: Visibility = null): StoredItem | null {
    const place = { namespace: JSON.stringify(operation.namespace), key: operation.key };
    const item = this.#item(place, budget);
    if (item === null || !isSeen(item, seenBy)) return null;
    if (operation.refresh_ttl === true) this.expiries.refresh(place);
    return item;
  }

  /**
   * Stores an item; a null value deletes it. Storing an item again replaces its value and keeps `created_at`. An
   * item that `seenBy` does not match is left unchanged, and the result is false.
   */
  put(operation: PutOperation, budget: ReadBudget, seenBy: Visibility = null): boolean {
    const { namespace, key, value, ttl, vectors } = operation;
    const name = JSON.stringify(namespace);
    const place = { namespace: name, key };
    if (seenBy !== null) {
      const stored = this.#item(place, budget);
      if (stored !== null && !isSeen(stored, seenBy)) return false;
    }
    if (value === null || this.expiries.isExpired(place)) this.#remove(place);
    if (value === null) {
      budget.count(1, 0);
      return true;
    }
    const text = JSON.stringify(value);
    const problem = oversizedField({ namespace: name, key, value: text });
    if (problem !== null) throw new Error(problem.message);
    this.expiries.set(place, ttl);
    this.#vectors.replace(place, vectors);
    budget.count(vectors?.length ?? 0, 0);
    budget.count(1, text.length);
    this.#sql.exec(
      `INSERT INTO items (namespace, key, value, created_at, updated_at) VALUES (?1, ?2, ?3, ?4, ?4)
       ON CONFLICT (namespace, key) DO UPDATE SET value = ?3, updated_at = ?4`,
      name,
      key,
      text,
      Date.now(),
    );
    return true;
  }

  /** Finds items, the latest update first. An item that is stored between the turns of a search may be missing. */
  search(operation: Search, budget: ReadBudget, seenBy: Visibility = null): StorePage<StoredItem> {
    const { namespace_prefix, filter, limit, vector } = operation;
    const isFound = (item: StoredItem): boolean =>
      (filter === undefined || matchesFilter(item.value, filter)) && isSeen(item, seenBy);
    const isAnyFound = filter === undefined && seenBy === null && !this.#hasExpired();
    if (vector !== undefined) {
      const read = (place: ItemPlace): StoredItem | null => {
        const item = this.#item(place, budget);
        return item !== null && isFound(item) ? item : null;
      };
      const accepts = (place: ItemPlace): boolean => isAnyFound || read(place) !== null;
      return this.#near({ ...operation, vector }, { accepts, read }, budget);
    }
    const { from, to } = rangeOf(namespace_prefix);
    const found: StoredItem[] = [];
    let { after, offset } = operation;
    if (limit <= 0) return { found, rest: null };
    for (const place of this.#places(operation, budget)) {
      const isUnder = place.namespace > from && place.namespace < to;
      const isCounted = isUnder && isAnyFound && offset > 0;
      const item = isUnder && !isCounted ? this.#item(place, budget) : null;
      if (isCounted) offset -= 1;
      else if (item !== null && isFound(item)) {
        if (offset > 0) offset -= 1;
        else {
          if (operation.refresh_ttl === true) this.expiries.refresh(place);
          found.push(item);
        }
      }
      if (found.length >= limit) return { found, rest: null };
      after = { updated_at: place.updated_at, namespace: place.namespace, key: place.key };
      if (budget.isSpent) {
        return { found, rest: { ...operation, after, offset, limit: limit - found.length } };
      }
    }
    return { found, rest: null };
  }

  #near(search: VectorSearch, items: SearchedItems, budget: ReadBudget): StorePage<StoredItem> {
    const range = rangeOf(search.namespace_prefix);
    const answer = searchNear(search, { vectors: this.#vectors, items, range, budget });
    if (search.refresh_ttl !== true) return answer;
    for (const { namespace, key } of answer.found) {
      this.expiries.refresh({ namespace: JSON.stringify(namespace), key });
    }
    return answer;
  }

  /**
   * Lists namespaces in the order of their texts. Each takes one look-up, however many items it has. This requires
   * that expired items are removed first, which may take further turns.
   */
  listNamespaces(
    operation: ListNamespaces,
    budget: ReadBudget,
    seenBy: Visibility = null,
  ): StorePage<string[]> {
    if (!this.sweep(budget)) return { found: [], rest: operation };
    const { prefix = [], suffix, max_depth, limit } = operation;
    const wildcard = prefix.indexOf("*");
    const { from, to } = rangeOf(wildcard < 0 ? prefix : prefix.slice(0, wildcard));
    const found: string[][] = [];
    let { after = from, offset } = operation;
    while (found.length < limit) {
      const [row] = this.#sql
        .exec<{ namespace: string }>(
          "SELECT namespace FROM items WHERE namespace > ? AND namespace < ? ORDER BY namespace LIMIT 1",
          after,
          to,
        )
        .toArray();
      if (row === undefined) break;
      budget.count(1, row.namespace.length);
      after = row.namespace;
      const labels: string[] = JSON.parse(row.namespace);
      if (matchesNamespace(labels, { prefix, suffix })) {
        const name = labels.slice(0, max_depth ?? labels.length);
        // All namespaces that begin with these labels have the same name, and are adjacent.
        if (name.length < labels.length) after = rangeOf(name).to;
        if (seenBy === null || matchesMetadata({ namespace: name }, seenBy)) {
          if (offset > 0) offset -= 1;
          else found.push(name);
        }
      }
      if (budget.isSpent && found.length < limit) {
        return { found, rest: { ...operation, after, offset, limit: limit - found.length } };
      }
    }
    return { found, rest: null };
  }

  /** Removes some of the expired items; returns true if none are left. */
  sweep(budget: ReadBudget): boolean {
    let bytes = 0;
    const expired = this.expiries.expired(SWEPT.rows);
    for (const [index, place] of expired.entries()) {
      this.#remove(place);
      budget.count(1, 0);
      bytes += place.bytes;
      if (bytes > SWEPT.bytes) return index === expired.length - 1 && !this.#hasExpired();
    }
    return expired.length < SWEPT.rows;
  }

  #remove(place: ItemPlace): void {
    const { namespace, key } = place;
    this.#sql.exec("DELETE FROM items WHERE namespace = ? AND key = ?", namespace, key);
    this.expiries.forget(place);
    this.#vectors.replace(place);
  }

  #hasExpired(): boolean {
    const next = this.expiries.next();
    return next !== null && next <= Date.now();
  }

  #item({ namespace, key }: ItemPlace, budget: ReadBudget): StoredItem | null {
    const [row] = this.#sql
      .exec<ItemRow>(
        `SELECT * FROM items WHERE namespace = ?1 AND key = ?2 AND NOT EXISTS (
           SELECT 1 FROM expiries WHERE namespace = ?1 AND key = ?2 AND expires_at <= ?3)`,
        namespace,
        key,
        Date.now(),
      )
      .toArray();
    budget.count(1, row?.value.length ?? 0);
    if (row === undefined) return null;
    return { ...row, namespace: JSON.parse(row.namespace), value: JSON.parse(row.value) };
  }

  /**
   * Yields the positions of items after `after`, the latest update first. They may include items outside the
   * prefix.
   */
  *#places({ namespace_prefix, after }: Search, budget: ReadBudget): Generator<StorePosition> {
    const few = this.#fewUnder(namespace_prefix, budget);
    if (few !== null) {
      yield* after === undefined ? few : few.filter((place) => byTurn(place, after) > 0);
      return;
    }
    for (const rows of this.#behind(after)) {
      for (const row of rows) {
        budget.count(1, row.namespace.length + row.key.length);
        yield row;
      }
    }
  }

  /** Returns every item under the prefix; null if there are too many. */
  #fewUnder(prefix: string[], budget: ReadBudget): StorePosition[] | null {
    const { from, to } = rangeOf(prefix);
    const places: StorePosition[] = [];
    let chars = 0;
    const rows = this.#sql.exec<StorePosition>(
      `SELECT updated_at, namespace, key FROM items INDEXED BY items_by_namespace
       WHERE namespace > ? AND namespace < ?`,
      from,
      to,
    );
    for (const row of rows) {
      const rowChars = row.namespace.length + row.key.length;
      budget.count(1, rowChars);
      chars += rowChars;
      if (places.length === SORTED_ROWS || chars > SORTED_CHARS) return null;
      places.push(row);
    }
    return places.toSorted(byTurn);
  }

  /** Reads rows from the index only, one at a time, so that no row is read unless it is consumed. */
  *#behind(after: StorePosition | undefined): Generator<SqlStorageCursor<StorePosition>> {
    const select = "SELECT updated_at, namespace, key FROM items INDEXED BY items_by_update";
    if (after === undefined) {
      yield this.#sql.exec(`${select} ${NEWEST_FIRST}`);
      return;
    }
    const { updated_at, namespace, key } = after;
    yield this.#sql.exec(
      `${select} WHERE updated_at = ? AND (namespace, key) > (?, ?) ${NEWEST_FIRST}`,
      updated_at,
      namespace,
      key,
    );
    yield this.#sql.exec(`${select} WHERE updated_at < ? ${NEWEST_FIRST}`, updated_at);
  }
}

/**
 * Returns bounds between which the texts of all namespaces that begin with these labels lie: in JSON the labels
 * are followed by a comma or a bracket, and `to` differs in the quote or bracket before that.
 */
function rangeOf(labels: string[]): { from: string; to: string } {
  const from = JSON.stringify(labels).slice(0, -1);
  const last = from.length - 1;
  return { from, to: from.slice(0, last) + String.fromCharCode(from.charCodeAt(last) + 1) };
}

function byTurn(left: StorePosition, right: StorePosition): number {
  return (
    right.updated_at - left.updated_at ||
    compareText(left.namespace, right.namespace) ||
    compareText(left.key, right.key)
  );
}

function compareText(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

/**
 * Whether an item matches a filter. The filter applies to the value's members, and to the item's namespace and
 * key.
 */
export function isSeen(
  { namespace, key, value }: Pick<StoredItem, "namespace" | "key" | "value">,
  seenBy: Visibility,
): boolean {
  return seenBy === null || matchesMetadata({ ...value, namespace, key }, seenBy);
}
