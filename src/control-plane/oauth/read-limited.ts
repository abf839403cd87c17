import { concatBytes } from "../../lib/bytes.ts";

/** A body as text; null when it is longer than `maxBytes`. */
export async function readLimited(response: Response, maxBytes: number): Promise<string | null> {
  if (response.body === null) return "";
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body) {
    size += chunk.byteLength;
    // Leaving the loop cancels the body.
    if (size > maxBytes) return null;
    chunks.push(chunk);
  }
  return new TextDecoder().decode(concatBytes(chunks));
}

/** The JSON of a text; undefined when it is none. */
export function jsonOrUndefined(text: string | null): unknown {
  if (text === null) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
