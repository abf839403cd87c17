export type JsonObject = Record<string, unknown>;

/** Whether a value is what JSON calls an object: neither null nor an array. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns an object as it is, and an empty object for any other value. */
export function objectOrEmpty(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** Returns a text as it is, and an empty text for any other value. */
export function textOrEmpty(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Returns a member of a value; undefined if the value is not an object, or has no such member. */
export function memberOf(value: unknown, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

/** Parses JSON; returns undefined for null and for text that is not JSON. */
export function jsonOrUndefined(text: string | null): unknown {
  if (text === null) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Maximum depth. Deeper values are refused, because serialisers, the database and later readers recurse. */
export const MAX_JSON_DEPTH = 500;

/** Returns true if the value of a JSON text is nested deeper than `MAX_JSON_DEPTH`. */
export function isTooDeep(value: unknown, text: string): boolean {
  // Each level of nesting takes two characters, so a short text cannot be nested too deeply.
  return text.length > 2 * MAX_JSON_DEPTH && isDeeperThan(value, MAX_JSON_DEPTH);
}

/** Uses a loop, because a text may be nested as deeply as it is long. */
function isDeeperThan(value: unknown, maxDepth: number): boolean {
  const open: { children: readonly unknown[]; next: number }[] = [];
  const root = childrenOf(value);
  if (root !== null) open.push({ children: root, next: 0 });
  for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
    if (open.length > maxDepth) return true;
    let children: readonly unknown[] | null = null;
    while (children === null && top.next < top.children.length) {
      children = childrenOf(top.children[top.next]);
      top.next += 1;
    }
    if (children === null) open.pop();
    else open.push({ children, next: 0 });
  }
  return false;
}

function childrenOf(value: unknown): readonly unknown[] | null {
  if (typeof value !== "object" || value === null) return null;
  return Array.isArray(value) ? value : Object.values(value);
}
