import type { JsonPart } from "./json-parts.ts";

const CHUNK_CHARS = 64 * 1024;

/**
 * Returns a response that streams the pieces. R2 objects pass through chunk by chunk, so that runs of any
 * size fit; an object that no longer exists becomes `null`. A streamed response has no schema that the
 * router could check it against.
 */
export function jsonStreamResponse(
  bucket: R2Bucket,
  parts: AsyncIterable<JsonPart> | Iterable<JsonPart>,
): Response {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  void pump(bucket, parts, writable);
  return new Response(readable, { headers: { "content-type": "application/json" } });
}

async function pump(
  bucket: R2Bucket,
  parts: AsyncIterable<JsonPart> | Iterable<JsonPart>,
  writable: WritableStream<Uint8Array>,
): Promise<void> {
  const encoder = new TextEncoder();
  const writer = writable.getWriter();
  let text = "";
  const flush = async (): Promise<void> => {
    if (text === "") return;
    const bytes = encoder.encode(text);
    text = "";
    await writer.write(bytes);
  };
  try {
    for await (const part of parts) {
      if (typeof part === "string") {
        text += part;
      } else {
        const object = await bucket.get(part.object);
        if (object === null) {
          text += "null";
        } else {
          await flush();
          for await (const chunk of object.body) await writer.write(chunk);
        }
      }
      if (text.length >= CHUNK_CHARS) await flush();
    }
    await flush();
    await writer.close();
  } catch (error) {
    // The client sees a broken stream, unless it was the client that disconnected.
    await writer.abort(error).catch(() => undefined);
  }
}
