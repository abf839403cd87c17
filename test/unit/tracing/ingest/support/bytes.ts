const encoder = new TextEncoder();

export function utf8(text: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(text);
}

export function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

/** Yields the bytes in chunks of these sizes, and the rest in one more. */
export async function* inChunks(
  bytes: Uint8Array,
  sizes: readonly number[],
): AsyncGenerator<Uint8Array> {
  let start = 0;
  for (const size of sizes) {
    if (start >= bytes.byteLength) return;
    yield bytes.slice(start, start + size);
    start += size;
  }
  if (start < bytes.byteLength) yield bytes.slice(start);
}

export async function* evenChunks(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.byteLength; start += size) {
    yield bytes.slice(start, start + size);
  }
}

export async function concat(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const all: Uint8Array[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return Uint8Array.from(Buffer.concat(all));
}

/** Returns the error with which a promise is rejected. Throws if it is not. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error("it was not rejected");
}

/** Returns the error that a call throws. Throws if it does not. */
export function thrown(call: () => unknown): unknown {
  try {
    call();
  } catch (error) {
    return error;
  }
  throw new Error("it did not throw");
}
