import type { Leaf } from "../run-write.ts";

/** Of the cache: some 10 MB at most. */
const MAX_KNOWN = 50_000;

/** Of attributes, by their values. */
type Ids = Map<string, number>;

export type Attributes = { tags: string[]; metadata: Leaf[] };

/**
 * Tags and metadata of runs, as pairs of row number and attribute. Most runs repeat the same few
 * attributes, so that a run costs some integers instead of texts.
 */
export class AttributeTable {
  readonly #sql: SqlStorage;
  /** By kind, key and value. */
  readonly #known = { tag: new Map<string, Ids>(), metadata: new Map<string, Ids>() };
  #knownCount = 0;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Ids of a transaction that was rolled back do not exist. */
  reset(): void {
    this.#known.tag.clear();
    this.#known.metadata.clear();
    this.#knownCount = 0;
  }

  /** Replaces the attributes of these runs; `stored` ones may have had others before. */
  put(runs: { seq: number; stored: boolean; attributes: Attributes }[]): void {
    const replaced = runs.filter(({ stored }) => stored).map(({ seq }) => seq);
    if (replaced.length > 0) {
      this.#sql.exec(
        "DELETE FROM run_attributes WHERE seq IN (SELECT value FROM json_each(?))",
        JSON.stringify(replaced),
      );
    }
    const pairs: [number, number][] = [];
    for (const { seq, attributes } of runs) {
      for (const tag of attributes.tags) pairs.push([seq, this.#idOf("tag", tag, "")]);
      for (const [key, value] of attributes.metadata) {
        pairs.push([seq, this.#idOf("metadata", key, value)]);
      }
    }
    if (pairs.length === 0) return;
    this.#sql.exec(
      `INSERT OR IGNORE INTO run_attributes (seq, attribute_id)
       SELECT value ->> 0, value ->> 1 FROM json_each(?)`,
      JSON.stringify(pairs),
    );
  }

  #idOf(kind: "tag" | "metadata", key: string, value: string): number {
    let ids = this.#known[kind].get(key);
    const known = ids?.get(value);
    if (known !== undefined) return known;
    const id =
      this.#find(kind, key, value) ??
      this.#sql
        .exec<{ attribute_id: number }>(
          "INSERT INTO attributes (kind, key, value) VALUES (?, ?, ?) RETURNING attribute_id",
          kind,
          key,
          value,
        )
        .one().attribute_id;
    if (this.#knownCount >= MAX_KNOWN) this.reset();
    ids = this.#known[kind].get(key);
    if (ids === undefined) {
      ids = new Map();
      this.#known[kind].set(key, ids);
    }
    ids.set(value, id);
    this.#knownCount += 1;
    return id;
  }

  #find(kind: string, key: string, value: string): number | undefined {
    return this.#sql
      .exec<{ attribute_id: number }>(
        "SELECT attribute_id FROM attributes WHERE kind = ? AND key = ? AND value = ?",
        kind,
        key,
        value,
      )
      .toArray()[0]?.attribute_id;
  }
}
