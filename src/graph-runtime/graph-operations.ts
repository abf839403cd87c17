import { InvalidNamespaceError, type Operation } from "@langchain/langgraph-checkpoint";
import type { IndexOf, StoreIndex } from "./store-index.ts";
import type { PutOperation, StoreOperation } from "./store-operations.ts";
import { DEFAULT_STORE, itemTtl, type StoreSettings } from "./store-settings.ts";

/** How a project's graphs use the store of their deployment. */
export type ProjectStore = { settings: StoreSettings; index: StoreIndex | null };

export const PLAIN_STORE: ProjectStore = { settings: DEFAULT_STORE, index: null };

/** Options that some versions of LangGraph's stores accept and others pass through unchanged. */
type Lifetime = { ttl?: number | null; refreshTtl?: boolean | null };

/**
 * Converts LangGraph's operations into operations of the deployment's store, and adds vectors when the
 * project has an index.
 */
export async function toStoreOperations(
  operations: readonly (Operation & Lifetime)[],
  { settings, index }: ProjectStore,
): Promise<StoreOperation[]> {
  const converted = operations.map((operation) => toStoreOperation(operation, settings));
  if (index === null) return converted;
  const puts: { put: PutOperation; value: Record<string, unknown>; index: IndexOf }[] = [];
  const queries: Promise<void>[] = [];
  for (const [number, operation] of operations.entries()) {
    const made = converted[number];
    if (made?.op === "search" && "namespacePrefix" in operation && operation.query) {
      const embedded = index.embedQuery(operation.query);
      queries.push(embedded.then((vector) => void (made.vector = vector)));
    }
    if (made?.op === "put" && made.value !== null && "value" in operation) {
      puts.push({ put: made, value: made.value, index: operation.index });
    }
  }
  const [vectors] = await Promise.all([index.embedItems(puts), ...queries]);
  for (const [number, { put }] of puts.entries()) put.vectors = vectors[number];
  return converted;
}

function toStoreOperation(
  operation: Operation & Lifetime,
  settings: StoreSettings,
): StoreOperation {
  const refresh_ttl = operation.refreshTtl ?? settings.ttl.refresh_on_read;
  if ("namespacePrefix" in operation) {
    return {
      op: "search",
      namespace_prefix: operation.namespacePrefix,
      filter: operation.filter,
      limit: operation.limit ?? 10,
      offset: operation.offset ?? 0,
      refresh_ttl,
    };
  }
  if ("value" in operation) {
    const { namespace, key, value } = operation;
    checkNamespace(namespace);
    return { op: "put", namespace, key, value, ttl: itemTtl(settings, operation.ttl) };
  }
  if ("key" in operation) {
    return { op: "get", namespace: operation.namespace, key: operation.key, refresh_ttl };
  }
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

/**
 * Throws an InvalidNamespaceError for the namespaces that LangGraph's own stores refuse: the API could not
 * address such an item.
 */
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
