import {
  BaseStore,
  type Item,
  type Operation,
  type OperationResults,
  type SearchItem,
} from "@langchain/langgraph-checkpoint";
import { PLAIN_STORE, type ProjectStore, toStoreOperations } from "./graph-operations.ts";
import type { RunPort } from "./protocol.ts";
import {
  MAX_STORE_OPERATIONS,
  type StoredItem,
  type StoreOperation,
  type StoreTurn,
} from "./store-operations.ts";

type StorePort = Pick<RunPort, "storeTurn">;

/** Maximum characters of JSON that one batch may return, since all of it is in this isolate's memory at once. */
const MAX_ANSWER_CHARS = 64 * 1024 * 1024;

/**
 * Maximum bytes of vectors in one call. RPC calls have a size limit, and the vectors of a thousand items can
 * exceed it.
 */
const MAX_CALL_VECTOR_BYTES = 8 * 1024 * 1024;

/** LangGraph's long-term store for graph code; the items live in the deployment's StoreObject. */
export class ThreadStore extends BaseStore {
  readonly #port: StorePort;
  readonly #project: ProjectStore;

  constructor(port: StorePort, project: ProjectStore = PLAIN_STORE) {
    super();
    this.#port = port;
    this.#project = project;
  }

  async batch<Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>> {
    const answers = await this.#perform(await toStoreOperations(operations, this.#project));
    // The store answers each operation in its place; the tuple type follows the operations.
    return answers.map(fromAnswer) as OperationResults<Op>;
  }

  /** Performs the operations in as many turns as needed. Writes of other callers can take place between two turns. */
  async #perform(operations: StoreOperation[]): Promise<unknown[]> {
    const answers: unknown[] = [];
    /** The results that earlier turns have found for the first unfinished operation. */
    let found: unknown[] = [];
    let chars = 0;
    for (let left = operations; left.length > 0;) {
      const turn = await this.#port.storeTurn(firstOf(left));
      const [first, ...others] = turn.answers;
      if (turn.answers.length > 0) {
        answers.push(Array.isArray(first) ? found.concat(first) : first, ...others);
        found = [];
      }
      left = left.slice(turn.answers.length);
      if (turn.begun !== null) {
        found = found.concat(turn.begun.found);
        left = [turn.begun.rest, ...left.slice(1)];
      }
      if (left.length > 0) chars += toldChars(turn);
      if (chars > MAX_ANSWER_CHARS) {
        throw new Error(
          `The results of one batch of store operations are larger than ${MAX_ANSWER_CHARS} characters of JSON: lower "limit", narrow the search by its namespace or "filter", or read it in parts with "offset"`,
        );
      }
    }
    return answers;
  }
}

/** Returns as many of the first operations as one call can carry, and at least one. */
function firstOf(operations: StoreOperation[]): StoreOperation[] {
  let bytes = 0;
  const end = operations.slice(0, MAX_STORE_OPERATIONS).findIndex((operation, index) => {
    for (const { vector } of operation.op === "put" ? (operation.vectors ?? []) : []) {
      bytes += vector.byteLength;
    }
    return index > 0 && bytes > MAX_CALL_VECTOR_BYTES;
  });
  return operations.slice(0, end === -1 ? MAX_STORE_OPERATIONS : end);
}

function toldChars({ answers, begun }: StoreTurn): number {
  return JSON.stringify([answers, begun?.found]).length;
}

function fromAnswer(answer: unknown): Item | SearchItem[] | string[][] | null | undefined {
  if (!Array.isArray(answer)) return isStoredItem(answer) ? toItem(answer) : (answer as null);
  return answer.every(isStoredItem) ? answer.map(toItem) : answer;
}

function isStoredItem(value: unknown): value is StoredItem {
  return typeof value === "object" && value !== null && "created_at" in value;
}

function toItem(item: StoredItem): SearchItem {
  return {
    ...(item.score === undefined ? {} : { score: item.score }),
    namespace: item.namespace,
    key: item.key,
    value: item.value,
    createdAt: new Date(item.created_at),
    updatedAt: new Date(item.updated_at),
  };
}
