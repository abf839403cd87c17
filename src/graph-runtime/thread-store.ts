import {
  BaseStore,
  InvalidNamespaceError,
  type Item,
  type Operation,
  type OperationResults,
  type SearchItem,
} from "@langchain/langgraph-checkpoint";
import type { RunPort, StoredItem, StoreOperation } from "./protocol.ts";

type StorePort = Pick<RunPort, "store">;

/** LangGraph's long-term store for graph code; the items live in the deployment's StoreObject. */
export class ThreadStore extends BaseStore {
  readonly #port: StorePort;

  constructor(port: StorePort) {
    super();
    this.#port = port;
  }

  async batch<Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>> {
    const answers = await this.#port.store(operations.map(toStoreOperation));
    // The store answers each operation in its place; the tuple type follows the operations.
    return answers.map(fromAnswer) as OperationResults<Op>;
  }
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
