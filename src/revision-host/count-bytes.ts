/**
 * The same body, with the size of each chunk reported when it passes. A body whose length its
 * headers tell keeps that length.
 */
export function countBytes(
  body: ReadableStream<Uint8Array> | null,
  headers: Headers,
  onBytes: (bytes: number) => void,
): ReadableStream<Uint8Array> | null {
  if (body === null) return null;
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      onBytes(chunk.byteLength);
      controller.enqueue(chunk);
    },
  });
  const counted = body.pipeThrough(counter);
  const length = headers.get("content-length");
  return length === null || !/^\d+$/.test(length)
    ? counted
    : counted.pipeThrough(new FixedLengthStream(Number(length)));
}
