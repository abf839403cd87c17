/** SQLite in an object takes rows of at most 2 MB. */
const MAX_BYTES = { value: 1_900_000, namespace: 8192, key: 8192 } as const;

type ItemField = keyof typeof MAX_BYTES;

/** The first field of an item that is too large to be stored, given as the texts that are; null when none is. */
export function oversize(
  texts: Record<ItemField, string>,
): { field: ItemField; message: string } | null {
  for (const field of ["value", "namespace", "key"] as const) {
    const max = MAX_BYTES[field];
    const text = texts[field];
    // UTF-8 needs at least a byte for each UTF-16 unit, and at most three.
    if (text.length * 3 <= max) continue;
    const bytes = new TextEncoder().encode(text).byteLength;
    if (bytes <= max) continue;
    const message = `The "${field}" of an item of the store has ${bytes} bytes as JSON; at most ${max} are allowed`;
    return { field, message };
  }
  return null;
}
