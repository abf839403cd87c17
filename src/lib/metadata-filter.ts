type FilterScalar = string | number | boolean;

/** A filter on the metadata of threads, assistants or crons that limits which of them may be seen. */
export type MetadataFilter =
  | { op: "all"; of: MetadataFilter[] }
  | { op: "any"; of: MetadataFilter[] }
  /** The value of `key` is `value`. */
  | { op: "equals"; key: string; value: FilterScalar }
  /** The value of `key` is an array that has `value` as an element. */
  | { op: "contains"; key: string; value: FilterScalar };

/** The caller's filter: only rows whose metadata matches it are visible. Null makes every row visible. */
export type Visibility = MetadataFilter | null;

export function matchesMetadata(
  metadata: Record<string, unknown>,
  filter: MetadataFilter,
): boolean {
  switch (filter.op) {
    case "all":
      return filter.of.every((part) => matchesMetadata(metadata, part));
    case "any":
      return filter.of.some((part) => matchesMetadata(metadata, part));
    case "equals":
      return Object.hasOwn(metadata, filter.key) && metadata[filter.key] === filter.value;
    case "contains": {
      const list = Object.hasOwn(metadata, filter.key) ? metadata[filter.key] : undefined;
      return Array.isArray(list) && list.includes(filter.value);
    }
  }
}

/** Returns the number of comparisons that a filter makes. */
export function metadataFilterSize(filter: MetadataFilter): number {
  if (filter.op !== "all" && filter.op !== "any") return 1;
  return filter.of.reduce((sum, part) => sum + metadataFilterSize(part), 0);
}
