import type { Sql } from "../../db/sql.ts";

/** True for the rows that match; false or null for the others. `depth` counts ANDs and ORs. */
export type Condition = Sql & { depth: number };

export function condition({ text, params }: Sql): Condition {
  return { text, params, depth: 0 };
}

/**
 * SQLite limits the depth of expressions, so that the shallowest parts are joined first: what is
 * nested already then gets only one level deeper. At least one condition.
 */
export function joined(operator: "AND" | "OR", conditions: readonly Condition[]): Condition {
  let open = conditions.toSorted(byDepth);
  for (;;) {
    const [first, second, ...rest] = open;
    if (first === undefined) throw new Error("nothing to join");
    if (second === undefined) return first;
    const pair = {
      text: `(${first.text} ${operator} ${second.text})`,
      params: [...first.params, ...second.params],
      depth: Math.max(first.depth, second.depth) + 1,
    };
    open = [...rest, pair].toSorted(byDepth);
  }
}

function byDepth(a: Condition, b: Condition): number {
  return a.depth - b.depth;
}
