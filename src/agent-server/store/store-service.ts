import {
  type ItemVector,
  MAX_ITEM_VECTORS,
  MAX_RANKED_ITEMS,
  type StoredItem,
} from "../../graph-runtime/store-operations.ts";
import { itemTtl, type StoreSettings } from "../../graph-runtime/store-settings.ts";
import { ApiError, invalidField } from "../../lib/api-error.ts";
import { jsonListAs, type JsonText } from "../../lib/json-answer.ts";
import { toIso } from "../../lib/time.ts";
import type { AgentCall } from "../agent-call.ts";
import { authorizeStore } from "../auth/store-access.ts";
import { describedProject } from "../described-project.ts";
import { isVectors, oversizedField } from "./check-operations.ts";
import type { Visibility } from "../../lib/metadata-filter.ts";
import { isSeen } from "./item-table.ts";
import type { ItemGet, ItemPut, ItemsSearch, NamespacesSearch } from "./schemas.ts";
import { type ReadOperation, type ReadTurn, type StoreObject, storeOf } from "./store-object.ts";
import type { EmbedRequest } from "../../graph-runtime/protocol.ts";
import { requestedGraphs } from "../graph-host.ts";

/** Returns the store settings of the project that a request is for. */
export async function storeSettings(call: AgentCall): Promise<StoreSettings> {
  return (await describedProject(call)).store;
}

/**
 * Stores an item where the project's handler puts it, unless that would replace an item that the caller may not
 * see.
 */
export async function putItem(call: AgentCall, put: ItemPut): Promise<void> {
  const { namespace, key, value, index, ttl: minutes } = put;
  requireNamespace(namespace);
  requireSize({ namespace, key, value });
  const { target, filter } = await authorizeStore(call, "store:put", { namespace, key, value });
  requireNamespace(target.namespace);
  requireSize(target);
  if (!isSeen(target, filter)) throw new ApiError("forbidden", "Not authorized");
  const settings = await storeSettings(call);
  const vectors = settings.index === null ? [] : await itemVectors(call, target.value, index);
  const ttl = itemTtl(settings, minutes);
  const isPut = await itemsOf(call).put({ op: "put", ...target, ttl, vectors }, filter);
  if (!isPut) throw new ApiError("not_found", "Item not found");
}

/** Returns the item as JSON; null if the caller sees no such item. */
export async function getItem(call: AgentCall, { namespace = [], key, refresh_ttl }: ItemGet) {
  const { target, filter } = await authorizeStore(call, "store:get", { namespace, key });
  const refresh = refresh_ttl ?? (await storeSettings(call)).ttl.refresh_on_read;
  const operation = { op: "get", ...target, refresh_ttl: refresh } as const;
  const { answers } = await itemsOf(call).read(operation, filter);
  const item = answers[0] as StoredItem | null;
  return item === null ? null : toItemJson(item);
}

/** Deletes an item. If it does not exist, or the caller may not see it, this does nothing. */
export async function deleteItem(call: AgentCall, namespace: string[], key: string): Promise<void> {
  if (namespace.length > 0) requireNamespace(namespace);
  const { target, filter } = await authorizeStore(call, "store:delete", { namespace, key });
  await itemsOf(call).put({ op: "put", ...target, value: null }, filter);
}

/** Returns a page of items, the latest update first, as JSON. They are read while the response is sent. */
export async function searchItems(call: AgentCall, search: ItemsSearch): Promise<JsonText> {
  const { namespace_prefix, filter, limit, offset, query, refresh_ttl } = search;
  const namespace = namespace_prefix ?? [];
  if (namespace.length > 0) requireNamespace(namespace);
  const options = { filter, limit, offset, query };
  const settings = await storeSettings(call);
  const isNear = settings.index !== null && Boolean(query);
  if (isNear) requireRankable(search);
  const access = await authorizeStore(call, "store:search", { namespace }, options);
  const operation: ReadOperation = {
    op: "search",
    namespace_prefix: access.target.namespace,
    filter: filter ?? undefined,
    limit,
    offset,
    refresh_ttl: refresh_ttl ?? settings.ttl.refresh_on_read,
    vector: isNear && query ? await queryVector(call, query) : undefined,
  };
  const items = found<StoredItem>(call, operation, access.filter);
  return jsonListAs("items", textsOf(items, toItemJson));
}

/** Returns a page of namespaces, in the order of their texts, as JSON. */
export async function listNamespaces(call: AgentCall, search: NamespacesSearch): Promise<JsonText> {
  const { prefix, suffix, max_depth, limit, offset } = search;
  for (const labels of [prefix, suffix]) if (labels?.length) requireNamespace(labels);
  const options = { suffix, max_depth, limit, offset };
  const { target, filter } = await authorizeStore(
    call,
    "store:list_namespaces",
    { namespace: prefix ?? [] },
    options,
  );
  const operation: ReadOperation = {
    op: "list_namespaces",
    prefix: target.namespace,
    suffix: suffix ?? undefined,
    max_depth: max_depth ?? undefined,
    limit,
    offset,
  };
  const namespaces = found<string[]>(call, operation, filter);
  return jsonListAs(
    "namespaces",
    textsOf(namespaces, (labels) => labels),
  );
}

function itemsOf({ env, scope }: AgentCall): Pick<StoreObject, "read" | "put"> {
  return storeOf(env, scope);
}

/** Yields the results of a search or list, in as many turns of the store as needed. Each turn starts on demand. */
async function* found<T>(
  call: AgentCall,
  operation: ReadOperation,
  seenBy: Visibility,
): AsyncGenerator<T, void> {
  for (let next: ReadOperation | null = operation; next !== null;) {
    const turn: ReadTurn = await itemsOf(call).read(next, seenBy);
    // The store's answer to an operation has the type of that operation's results.
    yield* (turn.begun?.found ?? turn.answers[0]) as T[];
    next = turn.begun?.rest ?? null;
  }
}

async function* textsOf<T>(
  items: AsyncIterable<T>,
  toJson: (item: T) => object,
): AsyncGenerator<string, void> {
  for await (const item of items) yield JSON.stringify(toJson(item));
}

function toItemJson({ namespace, key, value, created_at, updated_at, score }: StoredItem) {
  const times = { created_at: toIso(created_at), updated_at: toIso(updated_at) };
  return { namespace, key, value, ...times, ...(score === undefined ? {} : { score }) };
}

function requireRankable({ limit, offset }: ItemsSearch): void {
  if (limit + offset <= MAX_RANKED_ITEMS) return;
  const message = `A search with "query" finds the nearest ${MAX_RANKED_ITEMS} items: "offset" and "limit" together may be no more`;
  throw invalidField(["body", "limit"], message, "value_error");
}

function requireNamespace(labels: string[]): void {
  if (labels.length === 0) throw new ApiError("bad_request", "Namespace is required");
  if (labels.every((label) => label !== "" && !label.includes("."))) return;
  throw new ApiError(
    "validation",
    `Namespace labels cannot be empty or contain periods. Received: ${labels.join(".")}`,
  );
}

function requireSize({
  namespace,
  key,
  value,
}: Pick<ItemPut, "namespace" | "key" | "value">): void {
  const problem = oversizedField({
    namespace: JSON.stringify(namespace),
    key,
    value: JSON.stringify(value),
  });
  if (problem !== null) throw invalidField(["body", problem.field], problem.message, "too_long");
}

/** Returns the vectors of an item, computed by the project's own code. `index` is the field of the put request. */
async function itemVectors(
  call: AgentCall,
  value: Record<string, unknown>,
  index: string[] | false | null | undefined,
): Promise<ItemVector[]> {
  return index === false ? [] : embedded(call, { value, index: index ?? null });
}

/** Returns the vector of a search query. */
async function queryVector(call: AgentCall, query: string): Promise<Float32Array> {
  const [found] = await embedded(call, { query });
  if (found === undefined) throw noVectors();
  return found.vector;
}

/** Returns vectors from the project's code. A deployment's code may return anything, so the answer is validated. */
async function embedded(call: AgentCall, request: EmbedRequest): Promise<ItemVector[]> {
  const result = await requestedGraphs(call).embed(request);
  if (result.ok) {
    if (!isVectors(result.value)) throw noVectors();
    return result.value;
  }
  if (result.code === "graph_late") throw new ApiError("timed_out", result.message);
  throw new ApiError("bad_request", `The project's index failed: ${result.message}`);
}

function noVectors(): ApiError {
  return new ApiError(
    "unavailable",
    `The project's index did not return valid vectors: at most ${MAX_ITEM_VECTORS} are allowed`,
  );
}
