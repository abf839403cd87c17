import { textParts } from "./row-parts.ts";

/** Long JSON texts of a thread by name, each cut into as many rows as it needs. */
export class Texts {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  set(name: string, text: string): void {
    this.delete(name);
    for (const [part, data] of textParts(text).entries()) {
      this.#sql.exec("INSERT INTO texts (name, part, data) VALUES (?, ?, ?)", name, part, data);
    }
  }

  get(name: string): string | null {
    const rows = this.#sql
      .exec<{ data: string }>("SELECT data FROM texts WHERE name = ? ORDER BY part", name)
      .toArray();
    return rows.length === 0 ? null : rows.map((row) => row.data).join("");
  }

  delete(name: string): void {
    this.#sql.exec("DELETE FROM texts WHERE name = ?", name);
  }
}
