export type JsonObject = Record<string, unknown>;

/** Whether a value is what JSON calls an object: neither null nor an array. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** An object as it is, and an empty one in the place of anything else. */
export function objectOrEmpty(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** A text as it is, and an empty one in the place of anything else. */
export function textOrEmpty(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** A member of an object; undefined of what is no object, or has none of that name. */
export function memberOf(value: unknown, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

/** The value of a JSON text; undefined for null and for what is not JSON. */
export function jsonOrUndefined(text: string | null): unknown {
  if (text === null) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Deeper values are refused: serialisers, the database and what reads them later recurse. */
export const MAX_JSON_DEPTH = 500;

/** Whether the value of a JSON text is nested deeper than `MAX_JSON_DEPTH`. */
export function isTooDeep(value: unknown, text: string): boolean {
  // Each level takes two characters.
  return text.length > 2 * MAX_JSON_DEPTH && isDeeperThan(value, MAX_JSON_DEPTH);
}

/** A loop, since a text may be nested as deep as it is long. */
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
