import { memberOf } from "../../lib/json.ts";
import type { Leaf } from "./run-write.ts";

/** Metadata keys with which clients group traces into a thread; the first that is set counts. */
const THREAD_KEYS = ["session_id", "thread_id", "conversation_id"];

/** Maximum number of leaves of one payload of a run. */
export const MAX_LEAVES = 100;

/** Maximum characters of a path, a key or a value; the rest is cut off. */
export const MAX_LEAF_CHARS = 250;

/** Maximum number of visited values. Nulls are not leaves, so a list of a million nulls needs another limit. */
const MAX_VISITED = 10_000;

/** A container that is being traversed; the items of an array share its path. */
type Level = {
  children: readonly unknown[];
  keys: readonly string[] | null;
  path: string;
  next: number;
};

/**
 * Returns the text leaves of a value in document order, with dot paths that omit array indexes: for
 * `{messages: [{content: "a"}]}`, ["messages.content", "a"]. Numbers and booleans become their JSON text.
 * A lone value has the path "".
 */
export function leavesOf(value: unknown): Leaf[] {
  const leaves: Leaf[] = [];
  const levels: Level[] = [];
  const enter = (child: unknown, path: string): void => {
    if (typeof child === "object" && child !== null) levels.push(levelOf(child, path));
    else if (child !== null && child !== undefined) {
      const text = typeof child === "string" ? child : JSON.stringify(child);
      leaves.push([path, clipText(text, MAX_LEAF_CHARS)]);
    }
  };
  enter(value, "");
  let visited = 0;
  for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
    if (level.next === level.children.length) {
      levels.pop();
      continue;
    }
    visited += 1;
    if (leaves.length === MAX_LEAVES || visited > MAX_VISITED) break;
    const index = level.next;
    level.next += 1;
    enter(level.children[index], joinPath(level.path, level.keys?.[index]));
  }
  return leaves;
}

function levelOf(container: object, path: string): Level {
  if (Array.isArray(container)) return { children: container, keys: null, path, next: 0 };
  const keys = Object.keys(container);
  return { children: Object.values(container), keys, path, next: 0 };
}

function joinPath(path: string, key: string | undefined): string {
  if (key === undefined) return path;
  return clipText(path === "" ? key : `${path}.${key}`, MAX_LEAF_CHARS);
}

/** Returns the leaves of a run's `extra.metadata`. */
export function metadataLeavesOf(extra: unknown): Leaf[] {
  const metadata = memberOf(extra, "metadata");
  // A lone value has no key that a filter could name.
  return typeof metadata === "object" ? leavesOf(metadata).filter(([key]) => key !== "") : [];
}

/** Returns the thread that a run's `extra.metadata` names; null if it names none. */
export function threadIdOf(extra: unknown): string | null {
  const metadata = memberOf(extra, "metadata");
  for (const key of THREAD_KEYS) {
    const id = memberOf(metadata, key);
    if (typeof id === "number") return String(id);
    if (typeof id === "string" && id !== "") return id;
  }
  return null;
}

const NUL = /\0/g;

/**
 * Returns the first characters of a text, in UTF-16 code units but without half a surrogate pair at the end.
 * U+FFFD replaces NUL, at which SQLite's functions would stop.
 */
export function clipText(text: string, maxChars: number): string {
  const clipped = text.length <= maxChars ? text : text.slice(0, cutBefore(text, maxChars));
  return clipped.includes("\0") ? clipped.replaceAll(NUL, "\uFFFD") : clipped;
}

function cutBefore(text: string, end: number): number {
  const last = text.charCodeAt(end - 1);
  return last >= 0xd800 && last <= 0xdbff ? end - 1 : end;
}
