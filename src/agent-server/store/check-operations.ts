import { MAX_TTL_MINUTES } from "../../lib/time.ts";
import { isObject } from "../../lib/json.ts";
import {
  type ItemVector,
  MAX_DIMENSIONS,
  MAX_ITEM_VECTORS,
  MAX_RANKED_ITEMS,
  MAX_STORE_OPERATIONS,
  type StoreOperation,
} from "../../graph-runtime/store-operations.ts";

/**
 * Validates operations, because deployed code may pass anything. Throws an error that names the first invalid
 * field.
 */
export function checkOperations(operations: unknown): asserts operations is StoreOperation[] {
  if (!Array.isArray(operations)) throw new Error("The operations of the store should be a list");
  if (operations.length > MAX_STORE_OPERATIONS) {
    throw new Error(
      `The store takes at most ${MAX_STORE_OPERATIONS} operations in a call, not ${operations.length}`,
    );
  }
  for (const operation of operations) checkOperation(Object(operation));
}

function checkOperation(operation: Record<string, unknown>): void {
  const isOptional = (field: string): boolean => operation[field] === undefined;
  const isCount = (field: string): boolean => Number(operation[field]) >= 0;
  const check = (field: string, isValid: boolean, expected: string): void => {
    if (!isValid) throw new Error(`"${field}" of a store operation should be ${expected}`);
  };
  const labels = "a list of texts";
  const checkPage = (): void => {
    check("limit", typeof operation["limit"] === "number" && isCount("limit"), "0 or more");
    check("offset", typeof operation["offset"] === "number" && isCount("offset"), "0 or more");
  };
  switch (operation["op"]) {
    case "get":
    case "put":
      check("namespace", isTexts(operation["namespace"]), labels);
      check("key", typeof operation["key"] === "string", "a text");
      if (operation["op"] === "put") {
        check("value", typeof operation["value"] === "object", "an object or null");
        check("ttl", isOptional("ttl") || isTtl(operation["ttl"]), "a time to live");
        const { vectors } = operation;
        check(
          "vectors",
          isOptional("vectors") || isVectors(vectors),
          `${MAX_ITEM_VECTORS} vectors`,
        );
      }
      return;
    case "search":
      check("namespace_prefix", isTexts(operation["namespace_prefix"]), labels);
      check("filter", isOptional("filter") || isObject(operation["filter"]), "an object");
      check("after", isOptional("after") || isPosition(operation["after"]), "a position");
      checkPage();
      if (isOptional("vector")) return;
      check("vector", isVector(operation["vector"]), "a vector");
      check("ranking", isOptional("ranking") || isRanking(operation["ranking"]), "a ranking");
      return check("limit", isRankable(operation), `at most ${MAX_RANKED_ITEMS} with "offset"`);
    case "list_namespaces": {
      const { max_depth, after } = operation;
      check("prefix", isOptional("prefix") || isTexts(operation["prefix"]), labels);
      check("suffix", isOptional("suffix") || isTexts(operation["suffix"]), labels);
      const isDepth = typeof max_depth === "number" && isCount("max_depth");
      check("max_depth", isOptional("max_depth") || isDepth, "0 or more");
      check("after", isOptional("after") || typeof after === "string", "a text");
      return checkPage();
    }
    default:
      check("op", false, "get, put, search or list_namespaces");
  }
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((label) => typeof label === "string");
}

function isPosition(value: unknown): boolean {
  return isPlace(value) && typeof value["updated_at"] === "number";
}

function isPlace(value: unknown): value is Record<string, unknown> {
  if (!isObject(value)) return false;
  return typeof value["namespace"] === "string" && typeof value["key"] === "string";
}

function isRanking(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { best, after } = value;
  if (!Array.isArray(best) || best.length > MAX_RANKED_ITEMS) return false;
  const isRanked = (place: unknown): boolean => isPlace(place) && Number.isFinite(place["score"]);
  return best.every(isRanked) && (after === null || isPlace(after));
}

function isRankable({ limit, offset }: Record<string, unknown>): boolean {
  return Number(limit) + Number(offset) <= MAX_RANKED_ITEMS;
}

function isTtl(value: unknown): boolean {
  if (!isObject(value)) return false;
  const isMinutes = (minutes: unknown): boolean =>
    typeof minutes === "number" && minutes > 0 && minutes <= MAX_TTL_MINUTES;
  return isMinutes(value["minutes"]) && isMinutes(value["sweep_minutes"]);
}

/** Whether the value is a list of vectors that can be stored with an item. */
export function isVectors(value: unknown): value is ItemVector[] {
  if (!Array.isArray(value) || value.length > MAX_ITEM_VECTORS) return false;
  return value.every(
    (item) => isObject(item) && typeof item["path"] === "string" && isVector(item["vector"]),
  );
}

/** Whether the value is a vector that can be stored and compared. */
function isVector(value: unknown): value is Float32Array {
  if (!(value instanceof Float32Array)) return false;
  return value.length > 0 && value.length <= MAX_DIMENSIONS && value.every(Number.isFinite);
}

/** Maximum bytes of each field: SQLite in a Durable Object takes rows of at most 2 MB. */
const MAX_BYTES = { value: 1_900_000, namespace: 8192, key: 8192 } as const;

type ItemField = keyof typeof MAX_BYTES;

/** Returns the first field of an item that is too large to be stored, given the texts to store; null if none is. */
export function oversizedField(
  texts: Record<ItemField, string>,
): { field: ItemField; message: string } | null {
  for (const field of ["value", "namespace", "key"] as const) {
    const max = MAX_BYTES[field];
    const text = texts[field];
    // UTF-8 needs between one and three bytes for each UTF-16 code unit.
    if (text.length * 3 <= max) continue;
    const bytes = new TextEncoder().encode(text).byteLength;
    if (bytes <= max) continue;
    const message = `The "${field}" of an item of the store has ${bytes} bytes as JSON; at most ${max} are allowed`;
    return { field, message };
  }
  return null;
}
