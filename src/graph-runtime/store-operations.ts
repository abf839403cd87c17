/** What a graph asks of the store of its deployment: plain data that crosses the RPC boundary. */

export type StoreOperation =
  | { op: "get"; namespace: string[]; key: string }
  | { op: "put"; namespace: string[]; key: string; value: Record<string, unknown> | null }
  | {
      op: "search";
      namespace_prefix: string[];
      filter?: Record<string, unknown> | undefined;
      limit: number;
      offset: number;
      /** Where an earlier turn has come to. */
      after?: StorePosition | undefined;
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

/** The place of an item in the order of a search: newest update first. */
export type StorePosition = { updated_at: number; namespace: string; key: string };

export type StoreTurn = {
  /** The answers of the operations that were finished, which are the first ones. */
  answers: unknown[];
  /** What the next operation has found so far, and the operation that finds the rest; null when none was begun. */
  begun: { found: unknown[]; rest: StoreOperation } | null;
  /** What was looked at, and the size of what was read, as JSON text. */
  rows: number;
  bytes: number;
};

/** How many operations one turn may be asked for. */
export const MAX_STORE_OPERATIONS = 1000;

export type StoredItem = {
  namespace: string[];
  key: string;
  value: Record<string, unknown>;
  created_at: number;
  updated_at: number;
};
