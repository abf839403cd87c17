import type { Leaf } from "../run-write.ts";

/** Of the cache: some 10 MB at most. */
const MAX_KNOWN = 50_000;

export type Attributes = { tags: string[]; metadata: Leaf[] };

/**
 * Tags and metadata of runs, as pairs of row number and attribute. Most runs repeat the same few
 * attributes, so that a run costs some integers instead of texts.
 */
export class AttributeTable {
  readonly #sql: SqlStorage;
  readonly #known = new Map<string, number>();

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Ids of a transaction that was rolled back do not exist. */
  reset(): void {
    this.#known.clear();
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
    const name = `${kind}\n${key}\n${value}`;
    const known = this.#known.get(name);
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
    if (this.#known.size >= MAX_KNOWN) this.#known.clear();
    this.#known.set(name, id);
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
