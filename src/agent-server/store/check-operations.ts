import { isObject } from "../../lib/json.ts";
import { MAX_STORE_OPERATIONS, type StoreOperation } from "../../graph-runtime/store-operations.ts";

/** Deployed code may call with anything. Throws an error that names the first field that is not valid. */
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
      }
      return;
    case "search":
      check("namespace_prefix", isTexts(operation["namespace_prefix"]), labels);
      check("filter", isOptional("filter") || isObject(operation["filter"]), "an object");
      check("after", isOptional("after") || isPosition(operation["after"]), "a position");
      return checkPage();
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
  if (!isObject(value)) return false;
  const { updated_at, namespace, key } = value;
  return [typeof updated_at, typeof namespace, typeof key].join() === "number,string,string";
}
