import { textParts } from "./row-parts.ts";

/**
 * The table of a thread's long JSON texts by name: its values, what runs were asked with when that is long, the ends of traces that are
 * still to be recorded, webhooks that are still to be delivered. A text is cut into as many rows as it needs.
 */
export class TextTable {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  set(name: string, text: string): void {
    const parts = textParts(text);
    for (const [part, data] of parts.entries()) {
      this.#sql.exec(
        "INSERT OR REPLACE INTO texts (name, part, data) VALUES (?, ?, ?)",
        name,
        part,
        data,
      );
    }
    this.#sql.exec("DELETE FROM texts WHERE name = ? AND part >= ?", name, parts.length);
  }

  get(name: string): string | null {
    const rows = this.#sql
      .exec<{ data: string }>("SELECT data FROM texts WHERE name = ? ORDER BY part", name)
      .toArray();
    return rows.length === 0 ? null : rows.map((row) => row.data).join("");
  }

  /** The texts whose names begin with the prefix, in the order of their names. */
  withPrefix(prefix: string): string[] {
    const rows = this.#sql
      .exec<{ name: string; data: string }>(
        "SELECT name, data FROM texts WHERE name >= ? AND name < ? ORDER BY name, part",
        prefix,
        `${prefix}\uffff`,
      )
      .toArray();
    const byName = Map.groupBy(rows, ({ name }) => name);
    return [...byName.values()].map((parts) => parts.map(({ data }) => data).join(""));
  }

  delete(name: string): void {
    this.#sql.exec("DELETE FROM texts WHERE name = ?", name);
  }
}
