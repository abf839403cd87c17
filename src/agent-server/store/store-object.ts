import { DurableObject } from "cloudflare:workers";
import type { StoredItem, StoreOperation } from "../../graph-runtime/protocol.ts";
import { storeObjectName } from "../../lib/object-names.ts";
import type { Scope } from "../../lib/scope.ts";
import { regionalObject } from "../../regions/regional-object.ts";
import { matchesFilter } from "./store-filter.ts";
import { matchesNamespace } from "./store-namespace.ts";

type ItemRow = {
  namespace: string;
  key: string;
  value: string;
  created_at: number;
  updated_at: number;
};

/** Rows a search reads at a time: bounds memory while it looks for matches. */
const SCAN_PAGE_ROWS = 500;

/**
 * A deployment's long-term store (LangGraph's BaseStore): items under hierarchical namespaces, shared
 * by all its threads. One object, so that a read sees every write that was answered before it.
 */
export class StoreObject extends DurableObject<Env> {
  readonly #sql: SqlStorage;
  #hasTable = false;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#sql = ctx.storage.sql;
  }

  /** Forgets all items; a store that nobody writes to then is not stored. */
  async erase(): Promise<void> {
    await this.ctx.storage.deleteAll();
    this.#hasTable = false;
  }

  /** Runs the operations in order, in one transaction; one answer each. */
  async execute(operations: StoreOperation[]): Promise<unknown[]> {
    this.#createTable();
    return this.ctx.storage.transactionSync(() =>
      operations.map((operation) => this.#execute(operation)),
    );
  }

  #createTable(): void {
    if (this.#hasTable) return;
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
    `);
    this.#hasTable = true;
  }

  #execute(operation: StoreOperation): unknown {
    switch (operation.op) {
      case "get":
        return this.#get(operation.namespace, operation.key);
      case "put":
        return this.#put(operation);
      case "search":
        return this.#search(operation);
      case "list_namespaces":
        return this.#listNamespaces(operation);
    }
  }

  #get(namespace: string[], key: string): StoredItem | null {
    const [row] = this.#sql
      .exec<ItemRow>(
        "SELECT * FROM items WHERE namespace = ? AND key = ?",
        JSON.stringify(namespace),
        key,
      )
      .toArray();
    return row === undefined ? null : toItem(row);
  }

  /** A null value deletes. Putting again replaces the value and keeps `created_at`. */
  #put({ namespace, key, value }: Extract<StoreOperation, { op: "put" }>): null {
    const name = JSON.stringify(namespace);
    if (value === null) {
      this.#sql.exec("DELETE FROM items WHERE namespace = ? AND key = ?", name, key);
      return null;
    }
    this.#sql.exec(
      `INSERT INTO items (namespace, key, value, created_at, updated_at) VALUES (?1, ?2, ?3, ?4, ?4)
       ON CONFLICT (namespace, key) DO UPDATE SET value = ?3, updated_at = ?4`,
      name,
      key,
      JSON.stringify(value),
      Date.now(),
    );
    return null;
  }

  /** Newest update first. */
  #search(operation: Extract<StoreOperation, { op: "search" }>): StoredItem[] {
    const { namespace_prefix, filter, limit, offset } = operation;
    const found: StoredItem[] = [];
    let skip = offset;
    for (const row of this.#itemsUnder(namespace_prefix)) {
      const item = toItem(row);
      if (filter && !matchesFilter(item.value, filter)) continue;
      if (skip > 0) skip -= 1;
      else found.push(item);
      if (found.length >= limit) break;
    }
    return found;
  }

  *#itemsUnder(prefix: string[]): Generator<ItemRow> {
    // `["a","b"` is a text prefix of exactly the namespaces that begin with those labels: JSON puts
    // a comma or a bracket after it, which the comparison below tells apart from a longer label.
    const text = JSON.stringify(prefix).slice(0, -1);
    for (let offset = 0; ; offset += SCAN_PAGE_ROWS) {
      const rows = this.#sql
        .exec<ItemRow>(
          `SELECT * FROM items
           WHERE ?1 = '[' OR (substr(namespace, 1, length(?1)) = ?1
             AND substr(namespace, length(?1) + 1, 1) IN (',', ']'))
           ORDER BY updated_at DESC, namespace, key LIMIT ${SCAN_PAGE_ROWS} OFFSET ?2`,
          text,
          offset,
        )
        .toArray();
      yield* rows;
      if (rows.length < SCAN_PAGE_ROWS) return;
    }
  }

  #listNamespaces(operation: Extract<StoreOperation, { op: "list_namespaces" }>): string[][] {
    const { prefix, suffix, max_depth, limit, offset } = operation;
    const rows = this.#sql
      .exec<{ namespace: string }>("SELECT DISTINCT namespace FROM items ORDER BY namespace")
      .toArray();
    const names = new Set<string>();
    for (const { namespace } of rows) {
      const labels: string[] = JSON.parse(namespace);
      if (!matchesNamespace(labels, { prefix, suffix })) continue;
      names.add(JSON.stringify(labels.slice(0, max_depth ?? labels.length)));
    }
    return [...names].slice(offset, offset + limit).map((name) => JSON.parse(name));
  }
}

export function storeOf(env: Env, scope: Scope): DurableObjectStub<StoreObject> {
  return regionalObject(env, "STORES", storeObjectName(scope));
}

function toItem(row: ItemRow): StoredItem {
  return { ...row, namespace: JSON.parse(row.namespace), value: JSON.parse(row.value) };
}
