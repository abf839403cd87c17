import { textParts } from "./row-parts.ts";

/** Maximum number of names in memory; if there are more, the table is read. */
const MAX_KNOWN_NAMES = 1000;

/** Maximum characters of the texts in memory. */
const MAX_RECENT_CHARS = 16 * 1024;

/**
 * A thread's long JSON texts by name: its values, long kwargs of runs, trace ends that are still to be recorded,
 * webhooks that are still to be delivered. A text is split into as many rows as it needs. The existing names are
 * cached for the lifetime of the object that created the thread, and short texts that were written recently, because
 * most are read again at once; `reset` must be called after a failed transaction.
 */
export class TextTable {
  readonly #sql: SqlStorage;
  /** The number of rows of each text; null if it must be read. */
  #known: Map<string, number> | null = null;
  readonly #recent = new Map<string, string>();
  #recentChars = 0;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  startEmpty(): void {
    this.#known = new Map();
    this.#forgetRecent();
  }

  reset(): void {
    this.#known = null;
    this.#forgetRecent();
  }

  set(name: string, text: string): void {
    const parts = textParts(text);
    const before = this.#known === null ? Infinity : (this.#known.get(name) ?? 0);
    for (const [part, data] of parts.entries()) {
      this.#sql.exec(
        "INSERT OR REPLACE INTO texts (name, part, data) VALUES (?, ?, ?)",
        name,
        part,
        data,
      );
    }
    if (before > parts.length) {
      this.#sql.exec("DELETE FROM texts WHERE name = ? AND part >= ?", name, parts.length);
    }
    this.#known?.set(name, parts.length);
    if ((this.#known?.size ?? 0) > MAX_KNOWN_NAMES) this.reset();
    this.#remember(name, text);
  }

  get(name: string): string | null {
    if (this.#known?.has(name) === false) return null;
    const recent = this.#recent.get(name);
    if (recent !== undefined) return recent;
    const rows = this.#sql
      .exec<{ data: string }>("SELECT data FROM texts WHERE name = ? ORDER BY part", name)
      .toArray();
    return rows.length === 0 ? null : rows.map((row) => row.data).join("");
  }

  /** Returns the texts whose names begin with the prefix, in the order of their names. */
  withPrefix(prefix: string): string[] {
    if (this.#known !== null) {
      const names = [...this.#known.keys()].filter((name) => name.startsWith(prefix));
      const texts = names.toSorted().map((name) => this.#recent.get(name));
      if (texts.every((text) => text !== undefined)) return texts;
    }
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
    if (this.#known?.has(name) === false) return;
    this.#sql.exec("DELETE FROM texts WHERE name = ?", name);
    this.#known?.delete(name);
    this.#forget(name);
  }

  #remember(name: string, text: string): void {
    this.#forget(name);
    if (text.length > MAX_RECENT_CHARS) return;
    if (this.#recentChars + text.length > MAX_RECENT_CHARS) this.#forgetRecent();
    this.#recent.set(name, text);
    this.#recentChars += text.length;
  }

  #forget(name: string): void {
    this.#recentChars -= this.#recent.get(name)?.length ?? 0;
    this.#recent.delete(name);
  }

  #forgetRecent(): void {
    this.#recent.clear();
    this.#recentChars = 0;
  }
}
