import { DurableObject } from "cloudflare:workers";
import type {
  ItemTtl,
  PutOperation,
  StoreOperation,
  StoreTurn,
} from "../../graph-runtime/store-operations.ts";
import { storeObjectName } from "../../lib/object-names.ts";
import type { Scope } from "../../lib/scope.ts";
import { regionalObject } from "../../regions/regional-object.ts";
import { ReadBudget } from "../read-budget.ts";
import { checkOperations } from "./check-operations.ts";
import type { Visibility } from "../../lib/metadata-filter.ts";
import { ItemTable, type StorePage } from "./item-table.ts";

/** Maximum that one call may read: other calls wait until it ends, and what it has read is held in memory. */
const TURN = { rows: 5000, bytes: 8 * 1024 * 1024 };

/** Maximum for comparing vectors. They are not kept in memory, so this bounds the time. */
const VECTOR_TURN = { rows: 5000, bytes: 16 * 1024 * 1024 };

const SWEEP_MS = "sweep_ms";
const DEFAULT_SWEEP_MS = 5 * 60_000;

export type ReadOperation = Exclude<StoreOperation, PutOperation>;

/** The result of one turn of a read operation: the remaining operation, if any, is a read operation, too. */
export type ReadTurn = Pick<StoreTurn, "answers"> & {
  begun: { found: unknown[]; rest: ReadOperation } | null;
};

/**
 * A deployment's long-term store (LangGraph's BaseStore): items under hierarchical namespaces, shared by all its
 * threads. It is a single object, so that a read sees every write that was acknowledged before it.
 */
export class StoreObject extends DurableObject<Env> {
  readonly #items: ItemTable;
  #hasTable = false;
  /** The time that the alarm is set for, null if it is not set; undefined until it has been read. */
  #alarmAt: number | null | undefined;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#items = new ItemTable(ctx.storage.sql);
  }

  /** Deletes all items. A store that is not written to afterwards takes no storage. */
  async erase(): Promise<void> {
    await this.ctx.storage.deleteAlarm();
    await this.ctx.storage.deleteAll();
    this.#hasTable = false;
    this.#alarmAt = null;
  }

  /** Removes expired items, in as many turns as needed, so that other calls can run in between. */
  override async alarm(): Promise<void> {
    this.#alarmAt = null;
    while (!this.#transact(() => this.#items.sweep(new ReadBudget(TURN)))) await scheduler.wait(0);
    const next = this.#items.expiries.next();
    if (next !== null) this.#wakeAt(Math.max(next, Date.now() + this.#sweepMs()));
  }

  /**
   * Performs operations in order, in one transaction: as many as the budget allows, and at least a part of the
   * first. Throws if an operation is not valid; nothing is written then.
   */
  async execute(operations: StoreOperation[]): Promise<StoreTurn> {
    checkOperations(operations);
    this.#alarmAt ??= await this.ctx.storage.getAlarm();
    return rested(this.#transact(() => this.#turn(operations, null)));
  }

  /** Performs one read operation, or a part of it, for a caller who may see only what `seenBy` matches. */
  async read(operation: ReadOperation, seenBy: Visibility): Promise<ReadTurn> {
    return rested(this.#transact(() => this.#turn([operation], seenBy) as ReadTurn));
  }

  /** Stores or deletes an item. Returns false, and changes nothing, if `seenBy` does not match the stored item. */
  async put(operation: PutOperation, seenBy: Visibility): Promise<boolean> {
    checkOperations([operation]);
    this.#alarmAt ??= await this.ctx.storage.getAlarm();
    return this.#transact(() => this.#put(operation, new ReadBudget(TURN), seenBy));
  }

  #put(operation: PutOperation, budget: ReadBudget, seenBy: Visibility): boolean {
    const isPut = this.#items.put(operation, budget, seenBy);
    if (isPut && operation.ttl !== undefined) this.#expectSweep(operation.ttl);
    return isPut;
  }

  /** Sets the alarm in the same transaction as the write that requires it. */
  #expectSweep({ minutes, sweep_minutes }: ItemTtl): void {
    const sweepMs = Math.ceil(sweep_minutes * 60_000);
    if (sweepMs !== this.#sweepMs()) this.ctx.storage.kv.put(SWEEP_MS, sweepMs);
    const at = Date.now() + Math.max(minutes * 60_000, sweepMs);
    if (this.#alarmAt == null || at < this.#alarmAt) this.#wakeAt(at);
  }

  #sweepMs(): number {
    return this.ctx.storage.kv.get<number>(SWEEP_MS) ?? DEFAULT_SWEEP_MS;
  }

  #wakeAt(time: number): void {
    this.#alarmAt = time;
    void this.ctx.storage.setAlarm(time);
  }

  #transact<T>(work: () => T): T {
    if (!this.#hasTable) this.#items.create();
    this.#hasTable = true;
    return this.ctx.storage.transactionSync(work);
  }

  #turn(operations: StoreOperation[], seenBy: Visibility): StoreTurn {
    const [first] = operations;
    const isNear = first?.op === "search" && first.vector !== undefined;
    const budget = new ReadBudget(isNear ? VECTOR_TURN : TURN);
    const answers: unknown[] = [];
    let begun: StoreTurn["begun"] = null;
    for (const operation of operations) {
      if (answers.length > 0 && budget.isSpent) break;
      const performed = this.#perform(operation, budget, seenBy);
      begun = performed.begun;
      if (begun !== null) break;
      answers.push(performed.answer);
    }
    return { answers, begun, rows: budget.rows, bytes: budget.bytes };
  }

  #perform(operation: StoreOperation, budget: ReadBudget, seenBy: Visibility): Performed {
    switch (operation.op) {
      case "get":
        return { answer: this.#items.get(operation, budget, seenBy), begun: null };
      case "put":
        this.#put(operation, budget, seenBy);
        return { answer: null, begun: null };
      case "search":
        return listed(this.#items.search(operation, budget, seenBy));
      case "list_namespaces":
        return listed(this.#items.listNamespaces(operation, budget, seenBy));
    }
  }
}

/**
 * Waits before a turn that others follow is returned, so that other pending calls can run: calls within one
 * process would otherwise follow each other without a pause.
 */
async function rested<T extends Pick<StoreTurn, "begun">>(turn: T): Promise<T> {
  if (turn.begun !== null) await scheduler.wait(0);
  return turn;
}

type Performed = { answer: unknown; begun: StoreTurn["begun"] };

function listed({ found, rest }: StorePage<unknown>): Performed {
  return { answer: found, begun: rest === null ? null : { found, rest } };
}

export function storeOf(env: Env, scope: Scope): DurableObjectStub<StoreObject> {
  return regionalObject(env, "STORES", storeObjectName(scope));
}
