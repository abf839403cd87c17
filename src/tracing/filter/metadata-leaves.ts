import { leavesOf } from "../model/text-leaves.ts";
import type { Leaf } from "../model/run-write.ts";

/** No run has more. */
const MAX_LEAVES = 100;

/** What `metadataLeaves` reads, for messages. */
export const METADATA_OBJECT =
  `the text of a JSON object with at most ${MAX_LEAVES} values in it, none of them null and no ` +
  "object or list empty";

/**
 * The pairs as which a run's metadata keeps such an object: see leavesOf. Null for the text of
 * anything else, and for an object that says something which the pairs do not; "{}" has none.
 */
export function metadataLeaves(json: string): Leaf[] | null {
  const object = parseObject(json);
  return object === null || !isKeptWhole(object) ? null : leavesOf(object);
}

function parseObject(json: string): object | null {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "object" && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

/** A loop, since the text may be nested as deep as it is long. */
function isKeptWhole(object: object): boolean {
  const open: unknown[] = Object.values(object);
  let leaves = 0;
  while (open.length > 0) {
    const value = open.pop();
    if (typeof value === "object" && value !== null) {
      const children = Object.values(value);
      if (children.length === 0) return false;
      open.push(...children);
    } else {
      leaves += 1;
      if (value === null || leaves > MAX_LEAVES) return false;
    }
  }
  return true;
}
