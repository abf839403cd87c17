import { ancestorIds, daysOf } from "../model/dotted-order.ts";
import { keyIs, KEY_PARTS, type KeyParts } from "../filter/run-key.ts";
import {
  AMOUNT_COLUMNS,
  type AmountColumns,
  NO_AMOUNTS,
  type TracedRunRow,
} from "../model/run-row.ts";
import { countedAmounts, type OwnAmounts, sameAmounts, totalsOf, withChange } from "./amounts.ts";
import { StoredChildren } from "./stored-children.ts";
import type { ShardDatabase } from "./shard-database.ts";
import { readRunsById } from "./stored-runs.ts";

/** A run whose totals must be sent to the shard of its parent's day. */
export type ForeignChild = {
  day: number;
  runId: string;
  parentRunId: string;
  /** The length of its dotted order, which is longer the deeper the run is. */
  orderLength: number;
  totals: AmountColumns;
};

const NODE_COLUMNS = [
  "id",
  "trace_id",
  "parent_run_id",
  "dotted_order",
  "run_type",
  "own_amounts",
  ...AMOUNT_COLUMNS,
] as const satisfies (keyof TracedRunRow)[];

/** The part of a row on which the totals of a tree depend. */
export type TotalsNode = Pick<TracedRunRow, (typeof NODE_COLUMNS)[number]>;

type StoredNode = TotalsNode & KeyParts;

/** A run that is being written, with its stored totals. */
export type WrittenNode = {
  node: TotalsNode;
  before: AmountColumns | null;
  /** Whether it is new, or its own amounts or its type changed. */
  isChanged: boolean;
  /** Whether stored runs may be below it that it has not counted, because it is new to the table of runs. */
  hasChildren: boolean;
};

/**
 * Carries totals up the tree, deepest run first: the change of a child's totals is added to its parent's. Only
 * a change that no subtraction can undo makes it read all children of a run again. The totals of written runs
 * are set in place, and those of other runs in the database.
 */
export class RollUp {
  readonly #db: ShardDatabase;
  readonly #day: number;
  readonly #children: StoredChildren;
  readonly #written = new Map<string, TotalsNode>();
  /** Runs that are stored here and are not being written; null for runs that are not stored here. */
  readonly #others = new Map<string, StoredNode | null>();
  readonly #before = new Map<TotalsNode, AmountColumns>();
  readonly #queue = new Set<TotalsNode>();
  /** Runs whose totals are computed from all of their children, once those are done. */
  readonly #recounted = new Set<TotalsNode>();
  readonly #foreign: ForeignChild[] = [];

  constructor(db: ShardDatabase, day: number) {
    this.#db = db;
    this.#day = day;
    this.#children = new StoredChildren(db.sql);
  }

  /** Updates totals for runs that are written, before they are stored. Returns those with parents on another day. */
  ofWritten(runs: readonly WrittenNode[]): ForeignChild[] {
    const changed = runs.filter(({ isChanged }) => isChanged);
    for (const { node } of runs) this.#written.set(node.id, node);
    const created = changed.filter(({ before }) => before === null).map(({ node }) => node.id);
    const expected = this.#children.expectedParents(created);
    for (const { node, before, hasChildren } of changed) {
      const isAwaited = hasChildren || expected.has(node.id);
      const hasStored = before === null ? isAwaited : dependsOnChildren(node);
      if (hasStored) this.#recount(node, before ?? NO_AMOUNTS);
      else this.#set(node, before ?? NO_AMOUNTS, totalsOf(node, []));
    }
    this.#findAncestors();
    return this.#carryUp();
  }

  /** Updates the totals of a run whose children on another day have changed. */
  ofStored(id: string): ForeignChild[] {
    const node = this.#find(id);
    if (node === null) return [];
    this.#recount(node, amountsOf(node));
    this.#findAncestors();
    return this.#carryUp();
  }

  #set(node: TotalsNode, before: AmountColumns, totals: AmountColumns): void {
    if (!this.#before.has(node)) this.#before.set(node, before);
    Object.assign(node, totals);
    if (!sameAmounts(node, before)) this.#queue.add(node);
  }

  #recount(node: TotalsNode, before: AmountColumns): void {
    if (!this.#before.has(node)) this.#before.set(node, before);
    this.#recounted.add(node);
    this.#queue.add(node);
  }

  /** Reads all ancestors at once, which would otherwise be read one by one. */
  #findAncestors(): void {
    const ids = new Set<string>();
    for (const { parent_run_id, dotted_order } of this.#queue) {
      if (parent_run_id === null) continue;
      ids.add(parent_run_id);
      for (const id of ancestorIds(dotted_order)) ids.add(id);
    }
    for (const id of this.#written.keys()) ids.delete(id);
    for (const id of ids) if (!this.#others.has(id)) this.#others.set(id, null);
    for (const node of readNodes(this.#db, ids)) this.#others.set(node.id, node);
  }

  #find(id: string): TotalsNode | null {
    const written = this.#written.get(id);
    if (written !== undefined) return written;
    const known = this.#others.get(id);
    if (known !== undefined) return known;
    const [found = null] = readNodes(this.#db, [id]);
    this.#others.set(id, found);
    return found;
  }

  #carryUp(): ForeignChild[] {
    for (let node = deepest(this.#queue); node !== undefined; node = deepest(this.#queue)) {
      this.#queue.delete(node);
      const before = this.#before.get(node) ?? NO_AMOUNTS;
      if (this.#recounted.has(node)) Object.assign(node, totalsOf(node, this.#childrenOf(node)));
      if (sameAmounts(node, before)) continue;
      this.#save(node);
      const parent = this.#parentOf(node);
      if (parent !== null) this.#carry(parent, countedAmounts(before), countedAmounts(node));
    }
    return this.#foreign;
  }

  /** A run counts as a child only if it is deeper: runs may claim to be each other's parents. */
  #parentOf(node: TotalsNode): TotalsNode | null {
    const { id: runId, parent_run_id: parentRunId, dotted_order: order } = node;
    if (parentRunId === null) return null;
    const day = daysOf(order).at(-2);
    if (day !== undefined && day !== this.#day) {
      const totals = amountsOf(node);
      this.#foreign.push({ day, runId, parentRunId, orderLength: order.length, totals });
      return null;
    }
    const parent = this.#find(parentRunId);
    if (parent === null) {
      const isWaiting = this.#db.pending.noteChild(parentRunId);
      if (!isWaiting) this.#children.expectParent(parentRunId);
      return null;
    }
    return parent.dotted_order.length < order.length ? parent : null;
  }

  #carry(parent: TotalsNode, before: AmountColumns, after: AmountColumns): void {
    if (!dependsOnChildren(parent) || this.#recounted.has(parent)) return;
    const old = amountsOf(parent);
    const totals = withChange(old, before, after);
    if (totals === null) this.#recount(parent, old);
    else this.#set(parent, old, totals);
  }

  /** Returns the current totals of all children. */
  #childrenOf(parent: TotalsNode): AmountColumns[] {
    const stored = this.#children.of(parent).filter(({ id }) => !this.#written.has(id));
    const written = [...this.#written.values()].filter(
      ({ parent_run_id, dotted_order }) =>
        parent_run_id === parent.id && dotted_order.length > parent.dotted_order.length,
    );
    const here = [...stored.map((child) => this.#others.get(child.id) ?? child), ...written];
    return [...here.map(countedAmounts), ...this.#children.elsewhere(parent.id)];
  }

  #save({ id }: TotalsNode): void {
    const node = this.#written.has(id) ? null : (this.#others.get(id) ?? null);
    if (node === null) return;
    this.#db.sql.exec(
      UPDATE_AMOUNTS,
      ...AMOUNT_COLUMNS.map((column) => node[column]),
      node.key_high,
      node.key_low,
    );
  }
}

const UPDATE_AMOUNTS = `UPDATE runs
  SET ${AMOUNT_COLUMNS.map((column) => `${column} = ?`).join(", ")} WHERE ${keyIs()}`;

/** Returns whether a run of another day may be a child of the parent, as far as this shard knows. */
export function mayBeChild(
  db: ShardDatabase,
  { parentRunId, orderLength }: Pick<ForeignChild, "parentRunId" | "orderLength">,
): boolean {
  const [parent] = readNodes(db, [parentRunId]);
  return parent === undefined || parent.dotted_order.length < orderLength;
}

function readNodes(db: ShardDatabase, ids: Iterable<string>): StoredNode[] {
  const columns = [KEY_PARTS, ...NODE_COLUMNS.map((column) => `r.${column}`)].join(", ");
  return readRunsById<StoredNode>(db, columns, ids);
}

/** Returns false if a model's own report counts unchanged: see totalsOf. */
function dependsOnChildren({ run_type, own_amounts }: TotalsNode): boolean {
  if (run_type !== "llm" || own_amounts === null) return true;
  return (JSON.parse(own_amounts) as OwnAmounts).amounts === null;
}

function amountsOf(node: AmountColumns): AmountColumns {
  const amounts = { ...NO_AMOUNTS };
  for (const column of AMOUNT_COLUMNS) Object.assign(amounts, { [column]: node[column] });
  return amounts;
}

function deepest(nodes: Iterable<TotalsNode>): TotalsNode | undefined {
  let found: TotalsNode | undefined;
  for (const node of nodes) {
    if (found === undefined || node.dotted_order.length > found.dotted_order.length) found = node;
  }
  return found;
}
