/** A leaf of two values, identified by its path; undefined when a value does not have it. */
export type Difference = {
  path: string;
  left: string | undefined;
  right: string | undefined;
  isSame: boolean;
};

/** Maximum leaves that are compared; nobody would read more. */
const MOST_LEAVES = 1_000;

/** Compares two JSON values leaf by leaf, in the order of the first. */
export function differencesOf(left: unknown, right: unknown): Difference[] {
  const before = leavesOf(left);
  const after = leavesOf(right);
  const paths = new Set([...before.keys(), ...after.keys()]);
  return [...paths].slice(0, MOST_LEAVES).map((path) => {
    const one = before.get(path);
    const other = after.get(path);
    return { path, left: one, right: other, isSame: one === other };
  });
}

function leavesOf(value: unknown): Map<string, string> {
  const leaves = new Map<string, string>();
  const add = (member: unknown, path: string): void => {
    if (leaves.size >= MOST_LEAVES) return;
    const entries =
      member !== null && typeof member === "object" ? Object.entries(member) : undefined;
    if (entries === undefined || entries.length === 0) {
      leaves.set(path, typeof member === "string" ? member : JSON.stringify(member ?? null));
      return;
    }
    for (const [name, inner] of entries) add(inner, path === "" ? name : `${path}.${name}`);
  };
  if (value !== null && value !== undefined) add(value, "");
  return leaves;
}
