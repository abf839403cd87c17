import { daysOf } from "../model/dotted-order.ts";
import {
  AMOUNT_COLUMNS,
  type AmountColumns,
  NO_AMOUNTS,
  sameAmounts,
  totalsOf,
} from "./amounts.ts";
import type { RunRow } from "../model/run-row.ts";

/** The run whose totals must be told to the shard of its parent's day. */
export type ForeignChild = {
  day: number;
  runId: string;
  parentRunId: string;
  /** The length of its dotted order: the deeper the run, the longer. */
  orderLength: number;
};

const AMOUNTS = AMOUNT_COLUMNS.join(", ");

const NODE_COLUMNS = `id, parent_run_id, dotted_order, run_type, own_amounts, ${AMOUNTS}`;

/** A run counts as a child only when it is deeper: runs may be said to be each other's parents. */
const SELECT_CHILDREN = `SELECT ${AMOUNTS} FROM runs
  WHERE parent_run_id = ? AND (total_tokens > 0 OR total_cost IS NOT NULL)
    AND length(dotted_order) > (SELECT length(dotted_order) FROM runs WHERE id = ?)`;

const UPDATE_AMOUNTS = `UPDATE runs
  SET ${AMOUNT_COLUMNS.map((column) => `${column} = ?`).join(", ")} WHERE id = ?`;

type Node = AmountColumns &
  Pick<RunRow, "id" | "parent_run_id" | "dotted_order" | "run_type" | "own_amounts">;

type Placed = Pick<RunRow, "id" | "parent_run_id" | "dotted_order">;

/**
 * Carries totals up the tree, deepest run first. `changed` are runs whose totals were just written,
 * `stale` those whose totals may lack those of children that were here before them. Returns the
 * runs whose changed totals belong to a parent of another day.
 */
export function rollUp(
  sql: SqlStorage,
  shardDay: number,
  { changed, stale }: { changed: readonly Placed[]; stale: readonly string[] },
): ForeignChild[] {
  const foreign: ForeignChild[] = [];
  const parents = new Set<string>();
  const noteParent = (run: Placed): string | null => {
    if (run.parent_run_id === null) return null;
    const day = daysOf(run.dotted_order).at(-2);
    if (day === undefined || day === shardDay) return run.parent_run_id;
    const { id: runId, parent_run_id: parentRunId, dotted_order } = run;
    foreign.push({ day, runId, parentRunId, orderLength: dotted_order.length });
    return null;
  };
  for (const run of changed) {
    const parent = noteParent(run);
    if (parent !== null) parents.add(parent);
  }
  const queue = new Map<string, Node>();
  for (const node of readNodes(sql, [...parents, ...stale])) queue.set(node.id, node);
  while (queue.size > 0) {
    const node = deepest(queue.values());
    queue.delete(node.id);
    const totals = totalsOf(node, childrenOf(sql, node.id));
    if (sameAmounts(totals, node)) continue;
    setTotals(sql, node.id, totals);
    const parent = noteParent(node);
    if (parent === null || queue.has(parent)) continue;
    const [found] = readNodes(sql, [parent]);
    if (found !== undefined) queue.set(parent, found);
  }
  return foreign;
}

/** Runs among these that have children with totals, here or on another day. */
export function withCountedChildren(sql: SqlStorage, runIds: readonly string[]): string[] {
  if (runIds.length === 0) return [];
  return sql
    .exec<{ id: string }>(
      `WITH given AS (SELECT value AS id FROM json_each(?))
       SELECT id FROM given WHERE EXISTS (
         SELECT 1 FROM runs WHERE parent_run_id = given.id
           AND (total_tokens > 0 OR total_cost IS NOT NULL)
       ) OR EXISTS (SELECT 1 FROM foreign_children WHERE parent_run_id = given.id)`,
      JSON.stringify(runIds),
    )
    .toArray()
    .map(({ id }) => id);
}

/** Whether a run of another day may be a child of the parent, as far as that is known here. */
export function mayBeChild(
  sql: SqlStorage,
  { parentRunId, orderLength }: Pick<ForeignChild, "parentRunId" | "orderLength">,
): boolean {
  const [parent] = sql
    .exec<{ length: number }>(
      "SELECT length(dotted_order) AS length FROM runs WHERE id = ?",
      parentRunId,
    )
    .toArray();
  return parent === undefined || parent.length < orderLength;
}

/** What a message to the parent's day says. */
export function readTotals(sql: SqlStorage, runId: string): AmountColumns {
  const [row] = sql
    .exec<AmountColumns>(`SELECT ${AMOUNTS} FROM runs WHERE id = ?`, runId)
    .toArray();
  return row ?? NO_AMOUNTS;
}

function readNodes(sql: SqlStorage, ids: string[]): Node[] {
  return sql
    .exec<Node>(
      `SELECT ${NODE_COLUMNS} FROM runs WHERE id IN (SELECT value FROM json_each(?))`,
      JSON.stringify(ids),
    )
    .toArray();
}

export function childrenOf(sql: SqlStorage, id: string): AmountColumns[] {
  const here = sql.exec<AmountColumns>(SELECT_CHILDREN, id, id).toArray();
  const elsewhere = sql
    .exec<{ totals: string }>("SELECT totals FROM foreign_children WHERE parent_run_id = ?", id)
    .toArray()
    .map(({ totals }) => JSON.parse(totals) as AmountColumns);
  return [...here, ...elsewhere];
}

function setTotals(sql: SqlStorage, id: string, totals: AmountColumns): void {
  sql.exec(UPDATE_AMOUNTS, ...AMOUNT_COLUMNS.map((column) => totals[column]), id);
}

function deepest(nodes: Iterable<Node>): Node {
  let found: Node | undefined;
  for (const node of nodes) {
    if (found === undefined || depth(node) > depth(found)) found = node;
  }
  if (found === undefined) throw new Error("no run to roll up");
  return found;
}

function depth(node: Node): number {
  return node.dotted_order.length;
}
