/**
 * Ids of version 7 that came together, in one row: such an id tells when it was made, so that a row is
 * found by the time of the id that is looked for. All ids of a row were made in the same window of time.
 */
const WINDOW_BITS = 12;

const ID_BYTES = 16;

/** The window, some four seconds long, in which an id was made; null when the id does not tell. */
export function windowOf(id: string): number | null {
  if (id[14] !== "7") return null;
  return Math.floor(madeAt(id) / 2 ** WINDOW_BITS);
}

/** In epoch milliseconds, of an id of version 7. */
export function madeAt(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

/** UUIDs in 16 bytes each. */
export function packIds(ids: readonly string[]): Uint8Array {
  return Uint8Array.from(Buffer.from(ids.join("").replaceAll("-", ""), "hex"));
}

export function unpackIds(packed: ArrayBuffer): string[] {
  const digits = Buffer.from(packed).toString("hex");
  return Array.from({ length: packed.byteLength / ID_BYTES }, (_, index) => {
    const id = digits.slice(index * ID_BYTES * 2, (index + 1) * ID_BYTES * 2);
    return [8, 12, 16, 20].reduceRight((text, at) => `${text.slice(0, at)}-${text.slice(at)}`, id);
  });
}
