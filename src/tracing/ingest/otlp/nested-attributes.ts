import type { AttributeValue } from "./span.ts";

/**
 * Key segments that OpenInference puts around each item of a list: the role of the first message is
 * `llm.input_messages.0.message.role`.
 */
const ITEM_WRAPPERS = new Set(["message", "tool_call", "message_content", "document", "tool"]);

/** Maximum depth; deeper keys keep their dots, because the code that writes the JSON later is recursive. */
const MAX_SEGMENTS = 20;

const INDEX = /^\d+$/;

type Tree = { value: AttributeValue | undefined; children: Map<string, Tree> };

/**
 * Builds the value that flattened keys describe: `0.role` and `0.content` become a list of one object.
 * Lists have no gaps, whatever their indexes are.
 */
export function nestAttributes(entries: Iterable<[path: string, AttributeValue]>): unknown {
  const root: Tree = { value: undefined, children: new Map() };
  for (const [path, value] of entries) {
    if (value === null) continue;
    let tree = root;
    for (const segment of segmentsOf(path)) {
      let child = tree.children.get(segment);
      if (child === undefined) {
        child = { value: undefined, children: new Map() };
        tree.children.set(segment, child);
      }
      tree = child;
    }
    tree.value = value;
  }
  return toValue(root);
}

/** Returns the items below `prefix`, built by nestAttributes; empty if there are none. */
export function indexedItems(
  attributes: Iterable<[key: string, AttributeValue]>,
  prefix: string,
): unknown[] {
  const start = `${prefix}.`;
  const entries: [string, AttributeValue][] = [];
  for (const [key, value] of attributes) {
    if (!key.startsWith(start)) continue;
    const path = key.slice(start.length);
    if (/^\d+\./.test(path)) entries.push([path, value]);
  }
  const items = nestAttributes(entries);
  return Array.isArray(items) ? items : [];
}

function segmentsOf(path: string): string[] {
  const parts = path.split(".", MAX_SEGMENTS);
  const rest = path.slice(parts.join(".").length);
  if (rest !== "") parts.push(`${parts.pop() ?? ""}${rest}`);
  const segments: string[] = [];
  for (const [index, part] of parts.entries()) {
    const before = parts[index - 1] ?? "";
    const isWrapper = ITEM_WRAPPERS.has(part) && INDEX.test(before) && index < parts.length - 1;
    // `image.image.url`: the inner name repeats the outer one.
    if (!isWrapper && (part !== before || INDEX.test(part))) segments.push(part);
  }
  return segments;
}

function toValue({ value, children }: Tree): unknown {
  if (children.size === 0) return value;
  const entries = [...children];
  if (entries.every(([key]) => INDEX.test(key))) {
    return entries
      .toSorted(([left], [right]) => Number(left) - Number(right))
      .map(([, child]) => toValue(child));
  }
  // Unlike an assignment, this creates a property for "__proto__".
  return Object.fromEntries(entries.map(([key, child]) => [key, toValue(child)]));
}
