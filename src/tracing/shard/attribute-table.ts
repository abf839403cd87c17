import type { Leaf } from "../model/run-write.ts";

/** How many attributes are remembered: some 10 MB at most. */
const MAX_KNOWN = 50_000;

/** The ids of attributes, by their values. */
type Ids = Map<string, number>;

/** Both numbers of a pair travel in one, which SQLite takes out of a JSON list without a parse. */
const SEQ_RANGE = 2 ** 26;

const PAIRS = `SELECT value / ${SEQ_RANGE}, value % ${SEQ_RANGE} FROM json_each(?)`;

function pairsOf(seq: number, ids: readonly number[]): number[] {
  return ids.map((id) => id * SEQ_RANGE + seq);
}

export type AttributeChange = { seq: number; before: number[]; now: number[] };

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

  /** The ids of a run's attributes, each once. */
  idsOf({ tags, metadata }: Attributes): number[] {
    const ids = new Set<number>();
    for (const tag of tags) ids.add(this.#idOf("tag", tag, ""));
    for (const [key, value] of metadata) ids.add(this.#idOf("metadata", key, value));
    return [...ids];
  }

  /** Enters runs under the attributes that they have now, instead of those that they had before. */
  put(runs: readonly AttributeChange[]): void {
    const removed = runs.flatMap(({ seq, before }) => pairsOf(seq, before));
    if (removed.length > 0) {
      this.#sql.exec(
        `DELETE FROM run_attributes WHERE (attribute_id, seq) IN (${PAIRS})`,
        JSON.stringify(removed),
      );
    }
    const added = runs.flatMap(({ seq, now }) => pairsOf(seq, now));
    if (added.length === 0) return;
    this.#sql.exec(
      `INSERT OR IGNORE INTO run_attributes (attribute_id, seq) ${PAIRS}`,
      JSON.stringify(added),
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
