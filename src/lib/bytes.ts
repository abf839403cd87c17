export const BYTES_PER_MB = 1024 * 1024;

/** Joins chunks into one array. A single chunk is returned itself, not copied. */
export function concatBytes(chunks: readonly Uint8Array[]): Uint8Array {
  const [first] = chunks;
  if (chunks.length === 1 && first !== undefined) return first;
  const bytes = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0));
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return bytes;
}

/** Maximum bytes of a request that is too large that are still read, so that its sender receives the answer. */
export const MAX_DRAINED_BYTES = 64 * 1024 * 1024;

/**
 * Reads a whole body; returns null when it is longer than `maxBytes`. It first reads and drops up to
 * `maxDrainedBytes` more, because a sender whose body is cut off sees a broken connection instead of a response.
 * Any rest beyond that is cancelled.
 */
export async function readLimited(
  body: ReadableStream<Uint8Array> | null,
  maxBytes: number,
  maxDrainedBytes = 0,
): Promise<Uint8Array | null> {
  if (body === null) return new Uint8Array(0);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.byteLength;
    // Leaving the loop cancels the body.
    if (size > maxBytes + maxDrainedBytes) return null;
    if (size <= maxBytes) chunks.push(chunk);
  }
  return size > maxBytes ? null : concatBytes(chunks);
}

/** Returns the SHA-256 of a text's UTF-8 encoding as 64 hexadecimal digits. */
export async function sha256Hex(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Buffer.from(digest).toString("hex");
}

/** Compares two hex digests in a time that does not depend on where they differ. */
export function sameHash(left: string, right: string): boolean {
  let difference = left.length ^ right.length;
  for (let index = 0; index < left.length; index += 1) {
    // `charCodeAt` returns NaN past the end of `right`, which counts as 0 here.
    difference |= left.charCodeAt(index) ^ right.charCodeAt(index);
  }
  return difference === 0;
}
