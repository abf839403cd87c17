import {
  BaseStore,
  InvalidNamespaceError,
  type Item,
  type Operation,
  type OperationResults,
  type SearchItem,
} from "@langchain/langgraph-checkpoint";
import type { RunPort } from "./protocol.ts";
import {
  MAX_STORE_OPERATIONS,
  type StoredItem,
  type StoreOperation,
  type StoreTurn,
} from "./store-operations.ts";

type StorePort = Pick<RunPort, "storeTurn">;

/** What one batch may give, as JSON: it is in this isolate's memory at once. */
const MAX_ANSWER_CHARS = 64 * 1024 * 1024;

/** LangGraph's long-term store for graph code; the items live in the deployment's StoreObject. */
export class ThreadStore extends BaseStore {
  readonly #port: StorePort;

  constructor(port: StorePort) {
    super();
    this.#port = port;
  }

  async batch<Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>> {
    const answers = await this.#perform(operations.map(toStoreOperation));
    // The store answers each operation in its place; the tuple type follows the operations.
    return answers.map(fromAnswer) as OperationResults<Op>;
  }

  /** Asks in as many turns as it takes. Other writers may come in between two of them. */
  async #perform(operations: StoreOperation[]): Promise<unknown[]> {
    const answers: unknown[] = [];
    /** What earlier turns have found for the first operation that is not finished. */
    let found: unknown[] = [];
    let chars = 0;
    for (let left = operations; left.length > 0;) {
      const turn = await this.#port.storeTurn(left.slice(0, MAX_STORE_OPERATIONS));
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
          `What is asked of the store at once is larger than ${MAX_ANSWER_CHARS} characters of JSON: lower "limit", narrow the search by its namespace or "filter", or read it in parts with "offset"`,
        );
      }
    }
    return answers;
  }
}

function toldChars({ answers, begun }: StoreTurn): number {
  return JSON.stringify([answers, begun?.found]).length;
}

function toStoreOperation(operation: Operation): StoreOperation {
  if ("namespacePrefix" in operation) {
    if (operation.query !== undefined) {
      throw new Error("This store has no semantic index: search by filter, without query");
    }
    return {
      op: "search",
      namespace_prefix: operation.namespacePrefix,
      filter: operation.filter,
      limit: operation.limit ?? 10,
      offset: operation.offset ?? 0,
    };
  }
  if ("value" in operation) {
    const { namespace, key, value } = operation;
    checkNamespace(namespace);
    return { op: "put", namespace, key, value };
  }
  if ("key" in operation) return { op: "get", namespace: operation.namespace, key: operation.key };
  const match = (type: "prefix" | "suffix"): string[] | undefined =>
    operation.matchConditions?.find((condition) => condition.matchType === type)?.path;
  return {
    op: "list_namespaces",
    prefix: match("prefix"),
    suffix: match("suffix"),
    max_depth: operation.maxDepth,
    limit: operation.limit,
    offset: operation.offset,
  };
}

/** What LangGraph's own stores refuse: such an item could not be named in the API. */
function checkNamespace(namespace: string[]): void {
  if (namespace.length === 0) throw new InvalidNamespaceError("Namespace cannot be empty.");
  for (const label of namespace) {
    if (typeof label !== "string" || label === "" || label.includes(".")) {
      throw new InvalidNamespaceError(
        `Invalid namespace label ${JSON.stringify(label)}: labels are non-empty strings without periods.`,
      );
    }
  }
}

function fromAnswer(answer: unknown): Item | SearchItem[] | string[][] | null | undefined {
  if (!Array.isArray(answer)) return isStoredItem(answer) ? toItem(answer) : (answer as null);
  return answer.every(isStoredItem) ? answer.map(toItem) : answer;
}

function isStoredItem(value: unknown): value is StoredItem {
  return typeof value === "object" && value !== null && "created_at" in value;
}

function toItem(item: StoredItem): Item {
  return {
    namespace: item.namespace,
    key: item.key,
    value: item.value,
    createdAt: new Date(item.created_at),
    updatedAt: new Date(item.updated_at),
  };
}
