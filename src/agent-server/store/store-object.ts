import { DurableObject } from "cloudflare:workers";
import type { StoreOperation, StoreTurn } from "../../graph-runtime/protocol.ts";
import { storeObjectName } from "../../lib/object-names.ts";
import type { Scope } from "../../lib/scope.ts";
import { regionalObject } from "../../regions/regional-object.ts";
import { ReadBudget } from "../read-budget.ts";
import { checkOperations } from "./check-operations.ts";
import { type Found, ItemTable } from "./item-table.ts";

/** What one call may read: other calls wait for its end, and what it has read is in memory. */
const TURN = { rows: 5000, bytes: 8 * 1024 * 1024 };

/**
 * A deployment's long-term store (LangGraph's BaseStore): items under hierarchical namespaces, shared
 * by all its threads. One object, so that a read sees every write that was answered before it.
 */
export class StoreObject extends DurableObject<Env> {
  readonly #items: ItemTable;
  #hasTable = false;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#items = new ItemTable(ctx.storage.sql);
  }

  /** Forgets all items; a store that nobody writes to then is not stored. */
  async erase(): Promise<void> {
    await this.ctx.storage.deleteAll();
    this.#hasTable = false;
  }

  /**
   * Performs operations in their order, in one transaction: as many as its budget allows, and at least a part of
   * the first. Throws when one is not valid; nothing is written then.
   */
  async execute(operations: StoreOperation[]): Promise<StoreTurn> {
    checkOperations(operations);
    if (!this.#hasTable) this.#items.create();
    this.#hasTable = true;
    return this.ctx.storage.transactionSync(() => this.#turn(operations));
  }

  #turn(operations: StoreOperation[]): StoreTurn {
    const budget = new ReadBudget(TURN);
    const answers: unknown[] = [];
    let begun: StoreTurn["begun"] = null;
    for (const operation of operations) {
      if (answers.length > 0 && budget.isSpent) break;
      const performed = this.#perform(operation, budget);
      begun = performed.begun;
      if (begun !== null) break;
      answers.push(performed.answer);
    }
    return { answers, begun, rows: budget.rows, bytes: budget.bytes };
  }

  #perform(operation: StoreOperation, budget: ReadBudget): Performed {
    switch (operation.op) {
      case "get":
        return { answer: this.#items.get(operation, budget), begun: null };
      case "put":
        return { answer: this.#items.put(operation, budget), begun: null };
      case "search":
        return listed(this.#items.search(operation, budget));
      case "list_namespaces":
        return listed(this.#items.listNamespaces(operation, budget));
    }
  }
}

type Performed = { answer: unknown; begun: StoreTurn["begun"] };

function listed({ found, rest }: Found<unknown>): Performed {
  return { answer: found, begun: rest === null ? null : { found, rest } };
}

export function storeOf(env: Env, scope: Scope): DurableObjectStub<StoreObject> {
  return regionalObject(env, "STORES", storeObjectName(scope));
}
