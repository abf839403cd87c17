/** The operations that a graph performs on the store of its deployment: plain data that crosses the RPC boundary. */

export type StoreOperation =
  | { op: "get"; namespace: string[]; key: string; refresh_ttl?: boolean | undefined }
  | {
      op: "put";
      namespace: string[];
      key: string;
      value: Record<string, unknown> | null;
      /** The item's lifetime; without it the item never expires. */
      ttl?: ItemTtl | undefined;
      /** The vectors by which searches by meaning compare the item. */
      vectors?: ItemVector[] | undefined;
    }
  | {
      op: "search";
      namespace_prefix: string[];
      filter?: Record<string, unknown> | undefined;
      limit: number;
      offset: number;
      refresh_ttl?: boolean | undefined;
      /** When set, items are ordered by their nearness to this vector, the nearest first. */
      vector?: Float32Array | undefined;
      /** The position that an earlier turn has reached. */
      after?: StorePosition | undefined;
      /** The ranking that an earlier turn of a search by a vector has reached. */
      ranking?: Ranking | undefined;
    }
  | {
      op: "list_namespaces";
      prefix?: string[] | undefined;
      suffix?: string[] | undefined;
      max_depth?: number | undefined;
      limit: number;
      offset: number;
      /** The position that an earlier turn has reached: a string less than all later namespaces. */
      after?: string | undefined;
    };

export type PutOperation = Extract<StoreOperation, { op: "put" }>;

/** `sweep_minutes`: how long an expired item may stay on disk, invisible to readers. */
export type ItemTtl = { minutes: number; sweep_minutes: number };

/** A vector, and in `path` the text of the item that it was computed from. */
export type ItemVector = { path: string; vector: Float32Array };

/** Identifies an item; the namespace is the JSON text of its labels. */
export type ItemPlace = { namespace: string; key: string };

/** The position of an item in the order of a search: newest update first. */
export type StorePosition = ItemPlace & { updated_at: number };

export type Ranked = ItemPlace & { score: number };

/** The best items so far, the nearest first. `after` is the last item compared, or null once all were. */
export type Ranking = { best: Ranked[]; after: ItemPlace | null };

export type StoreTurn = {
  /** The answers of the finished operations, which are the first ones. */
  answers: unknown[];
  /** Results so far of the next operation, and the operation that finds the rest; null when none was begun. */
  begun: { found: unknown[]; rest: StoreOperation } | null;
  /** The number of rows looked at, and the size of what was read. */
  rows: number;
  bytes: number;
};

/** Maximum number of operations in one turn. */
export const MAX_STORE_OPERATIONS = 1000;

/** Maximum number of an item's texts that have a vector. */
export const MAX_ITEM_VECTORS = 100;

/** Maximum dimensions of a vector. Vectors are stored in rows, and all vectors of a call are in memory together. */
export const MAX_DIMENSIONS = 8192;

/** Maximum number of nearest items that a search ranks: `offset` plus `limit`. */
export const MAX_RANKED_ITEMS = 1000;

export type StoredItem = {
  namespace: string[];
  key: string;
  value: Record<string, unknown>;
  created_at: number;
  updated_at: number;
  /** Similarity to the query of a search, from -1 to 1. */
  score?: number;
};
