import type { ItemPlace, ItemVector } from "../../graph-runtime/store-operations.ts";

/** A vector of an item, of length 1, so that nearness is a product and no more. */
export type StoredVector = ItemPlace & { vector: Float32Array };

type VectorRow = ItemPlace & { vector: ArrayBuffer };

/** What searches by meaning compare items by: 32-bit floats, in the order of the items' places. */
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

  /** Puts an item's vectors in the place of those that it had. */
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

  /** The vectors of namespaces between two texts, from behind an item on. Each is read when it is asked for. */
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

/** The vector with a length of 1; one without a direction stays as it is, and is near to nothing. */
export function normalized(vector: Float32Array): Float32Array<ArrayBuffer> {
  let squares = 0;
  for (const value of vector) squares += value * value;
  const length = Math.sqrt(squares) || 1;
  return Float32Array.from(vector, (value) => value / length);
}
