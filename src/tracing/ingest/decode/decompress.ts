import type { Transform } from "node:stream";
import { constants, createGunzip, createZstdDecompress } from "node:zlib";
import { ApiError } from "../../../lib/api-error.ts";
import { messageOf } from "../../../lib/error-text.ts";

export type BodyEncoding = "gzip" | "zstd";

type Decoder = Transform & { readonly bytesWritten: number };

const CHUNK_BYTES = 64 * 1024;

/**
 * 8 MiB, the limit that RFC 8878 recommends to encoders. Without it, the decoder would allocate as much as
 * the header of a frame requests, up to 128 MiB.
 */
const ZSTD_MAX_WINDOW_LOG = 23;

/** Maximum number of members: each needs its own decoder, which costs more than the few bytes of a member. */
const MAX_MEMBERS = 100;

/**
 * Decodes what `read` returns (undefined at the end) chunk by chunk, at the speed of the reader: a
 * decompression bomb never unfolds further than a few chunks ahead of it. Consecutive gzip members or zstd
 * frames form one text. Throws "bad_request" for broken data, and rethrows the errors of `read`.
 */
export async function* decompress(
  encoding: BodyEncoding,
  read: () => Promise<Uint8Array | undefined>,
): AsyncGenerator<Uint8Array> {
  let input = await read();
  for (let members = 1; input !== undefined; members += 1) {
    if (members > MAX_MEMBERS) throw notDecodable(encoding, `more than ${MAX_MEMBERS} members`);
    input = yield* decodeMember(encoding, input, read);
  }
}

/** Decodes one member, or several, and returns the input after it. */
async function* decodeMember(
  encoding: BodyEncoding,
  first: Uint8Array,
  read: () => Promise<Uint8Array | undefined>,
): AsyncGenerator<Uint8Array, Uint8Array | undefined> {
  const decoder = createDecoder(encoding);
  const failure: { reading?: unknown } = {};
  const feeding = feed(decoder, first, async () => {
    try {
      return await read();
    } catch (error) {
      failure.reading = error;
      throw error;
    }
  });
  // A failure of the input destroys the decoder, which makes the loop below throw.
  feeding.catch((error: unknown) => decoder.destroy(error instanceof Error ? error : undefined));
  try {
    for await (const chunk of decoder) yield chunk;
    return await feeding;
  } catch (error) {
    if (failure.reading !== undefined) throw failure.reading;
    throw notDecodable(encoding, error);
  } finally {
    decoder.destroy();
  }
}

async function feed(
  decoder: Decoder,
  first: Uint8Array,
  read: () => Promise<Uint8Array | undefined>,
): Promise<Uint8Array | undefined> {
  let written = 0;
  for (let input: Uint8Array | undefined = first; input !== undefined; input = await read()) {
    await write(decoder, input);
    written += input.byteLength;
    // The decoder ends itself, silently, if a member ends within its input.
    const unread = written - decoder.bytesWritten;
    if (unread > 0) return input.subarray(input.byteLength - unread);
  }
  decoder.end();
  return undefined;
}

/** Resolves once the decoder has taken the input, that is, once the resulting output has been read. */
function write(decoder: Decoder, input: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    decoder.write(input, (error) => {
      if (error) reject(error);
      else resolve();
    });
  });
}

function createDecoder(encoding: BodyEncoding): Decoder {
  if (encoding === "gzip") return createGunzip({ chunkSize: CHUNK_BYTES });
  return createZstdDecompress({
    chunkSize: CHUNK_BYTES,
    params: { [constants.ZSTD_d_windowLogMax]: ZSTD_MAX_WINDOW_LOG },
  });
}

function notDecodable(encoding: BodyEncoding, cause: unknown): ApiError {
  const reason = messageOf(cause);
  return new ApiError("bad_request", `Request body is not valid ${encoding}: ${reason}`, { cause });
}
