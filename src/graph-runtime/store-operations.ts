/** What a graph asks of the store of its deployment: plain data that crosses the RPC boundary. */

export type StoreOperation =
  | { op: "get"; namespace: string[]; key: string; refresh_ttl?: boolean | undefined }
  | {
      op: "put";
      namespace: string[];
      key: string;
      value: Record<string, unknown> | null;
      /** How long the item lives; without it, for ever. */
      ttl?: ItemTtl | undefined;
      /** What searches by meaning compare it by. */
      vectors?: ItemVector[] | undefined;
    }
  | {
      op: "search";
      namespace_prefix: string[];
      filter?: Record<string, unknown> | undefined;
      limit: number;
      offset: number;
      refresh_ttl?: boolean | undefined;
      /** Items are found by their nearness to it, the nearest first. */
      vector?: Float32Array | undefined;
      /** Where an earlier turn has come to. */
      after?: StorePosition | undefined;
      /** Where an earlier turn of a search by a vector has come to. */
      ranking?: Ranking | undefined;
    }
  | {
      op: "list_namespaces";
      prefix?: string[] | undefined;
      suffix?: string[] | undefined;
      max_depth?: number | undefined;
      limit: number;
      offset: number;
      /** Where an earlier turn has come to: a text that all later namespaces are greater than. */
      after?: string | undefined;
    };

export type PutOperation = Extract<StoreOperation, { op: "put" }>;

/** `sweep_minutes`: how long the item may stay on disk, unseen, when its time is over. */
export type ItemTtl = { minutes: number; sweep_minutes: number };

/** `path` says which of an item's texts the vector is of. */
export type ItemVector = { path: string; vector: Float32Array };

/** The place of an item; the namespace is the JSON text of its labels. */
export type ItemPlace = { namespace: string; key: string };

/** The place of an item in the order of a search: newest update first. */
export type StorePosition = ItemPlace & { updated_at: number };

export type Ranked = ItemPlace & { score: number };

/** The best items so far, the nearest first. `after` is the last that was compared, null when all were. */
export type Ranking = { best: Ranked[]; after: ItemPlace | null };

export type StoreTurn = {
  /** The answers of the operations that were finished, which are the first ones. */
  answers: unknown[];
  /** What the next operation has found so far, and the operation that finds the rest; null when none was begun. */
  begun: { found: unknown[]; rest: StoreOperation } | null;
  /** What was looked at, and the size of what was read. */
  rows: number;
  bytes: number;
};

/** How many operations one turn may be asked for. */
export const MAX_STORE_OPERATIONS = 1000;

/** How many of an item's texts may have a vector. */
export const MAX_ITEM_VECTORS = 100;

/** Vectors are rows, and those of a call are in memory together. */
export const MAX_DIMENSIONS = 8192;

/** How many of the nearest items a search ranks: `offset` and `limit` together. */
export const MAX_RANKED_ITEMS = 1000;

export type StoredItem = {
  namespace: string[];
  key: string;
  value: Record<string, unknown>;
  created_at: number;
  updated_at: number;
  /** How near it is to what was searched for, from -1 to 1. */
  score?: number;
};
