/**
 * Returns a schema without insignificant differences: the order of alternatives, which is that in which the compiler
 * encountered the types, also within the names of types; and the numbers in the names of symbols.
 */
export function comparable(schema: unknown): unknown {
  if (typeof schema === "string") return sortedName(schema);
  if (Array.isArray(schema)) {
    return schema
      .map((item) => comparable(item))
      .toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  }
  if (typeof schema !== "object" || schema === null) return schema;
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [sortedName(name), comparable(value)] as const)
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );
}

function sortedName(text: string): string {
  return text
    .replace(/^(__@\w+@)\d+$/, "$1")
    .replaceAll(/[^;:{}<>(),[\]]*\|[^;:{}<>(),[\]]*/g, (union) =>
      union.split("|").toSorted().join("|"),
    );
}
