import { startsBetween } from "../filter/run-key.ts";
import { AMOUNT_COLUMNS, type AmountColumns, type TracedRunRow } from "../model/run-row.ts";

type StoredChild = AmountColumns & Pick<TracedRunRow, "id">;

/** The stored children of runs, here and on other days. */
export class StoredChildren {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Returns the children with amounts. It searches all runs of the trace, so it should not be called often. */
  of(parent: Pick<TracedRunRow, "id" | "trace_id" | "dotted_order">): StoredChild[] {
    return this.#sql
      .exec<StoredChild>(SELECT_CHILDREN, parent.trace_id, parent.id, parent.dotted_order.length)
      .toArray();
  }

  elsewhere(parentId: string): AmountColumns[] {
    return this.#sql
      .exec<{ totals: string }>(
        "SELECT totals FROM foreign_children WHERE parent_run_id = ?",
        parentId,
      )
      .toArray()
      .map(({ totals }) => JSON.parse(totals) as AmountColumns);
  }

  /** Notes that a child with amounts is here, and its parent is not. */
  expectParent(id: string): void {
    this.#sql.exec("INSERT OR IGNORE INTO expected_parents (run_id) VALUES (?)", id);
  }

  /** Returns those of these new runs that already have children here or on other days, and expects them no longer. */
  expectedParents(ids: readonly string[]): Set<string> {
    if (ids.length === 0) return new Set();
    const given = JSON.stringify(ids);
    const expected = this.#sql
      .exec<{ id: string }>(
        `SELECT run_id AS id FROM expected_parents WHERE run_id IN (SELECT value FROM json_each(?1))
         UNION ALL SELECT parent_run_id FROM foreign_children
           WHERE parent_run_id IN (SELECT value FROM json_each(?1))`,
        given,
      )
      .toArray();
    if (expected.length > 0) this.forgetParents(ids);
    return new Set(expected.map(({ id }) => id));
  }

  forgetParents(ids: readonly string[]): void {
    this.#sql.exec(
      "DELETE FROM expected_parents WHERE run_id IN (SELECT value FROM json_each(?))",
      JSON.stringify(ids),
    );
  }
}

const SELECT_CHILDREN = `SELECT r.id, ${AMOUNT_COLUMNS.map((column) => `r.${column}`).join(", ")}
  FROM traces t CROSS JOIN runs r ON ${startsBetween("r", "t.first_start", "t.last_start")}
  WHERE t.trace_id = ? AND r.trace_id = t.trace_id AND r.parent_run_id = ?
    AND (r.total_tokens > 0 OR r.total_cost IS NOT NULL) AND length(r.dotted_order) > ?`;
