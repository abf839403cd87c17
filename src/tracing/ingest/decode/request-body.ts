import { concatBytes } from "../../../lib/bytes.ts";
import { ApiError } from "../../../lib/api-error.ts";
import { BodyReader } from "./body-reader.ts";
import { type BodyEncoding, decompress } from "./decompress.ts";

/** What is needed of a Request. */
export type EncodedBody = {
  headers: Pick<Headers, "get">;
  body: ReadableStream<Uint8Array> | null;
};

/** `maxBytes` is of the decoded body; what arrives compressed may not be larger either. */
export type BodyLimits = { maxBytes: number };

/**
 * The decoded body of a request, in chunks of at most 128 KiB. Throws ApiErrors:
 * "unsupported_media_type" at once for an unknown Content-Encoding, and while reading "payload_too_large",
 * without keeping anything where the declared length says so, or, for broken compressed data and an interrupted upload, "bad_request".
 */
export function readRequestBody(
  request: EncodedBody,
  limits: BodyLimits,
): AsyncGenerator<Uint8Array> {
  const encoding = encodingOf(request.headers.get("content-encoding"));
  const declared = Number(request.headers.get("content-length") ?? 0);
  return decoded(request.body, encoding, declared, limits);
}

/** The same in one piece, for documents that are parsed whole. */
export async function collectRequestBody(
  request: EncodedBody,
  limits: BodyLimits,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of readRequestBody(request, limits)) chunks.push(chunk);
  return concatBytes(chunks);
}

async function* decoded(
  body: ReadableStream<Uint8Array> | null,
  encoding: BodyEncoding | "identity",
  declared: number,
  limits: BodyLimits,
): AsyncGenerator<Uint8Array> {
  if (body === null) return;
  const reader = new BodyReader(body, declared);
  if (declared > limits.maxBytes) {
    await reader.drain();
    throw tooLarge(limits);
  }
  const read = within(limits, () => reader.read());
  try {
    if (encoding === "identity") {
      for (let chunk = await read(); chunk !== undefined; chunk = await read()) yield chunk;
      return;
    }
    let size = 0;
    for await (const chunk of decompress(encoding, read)) {
      size += chunk.byteLength;
      if (size > limits.maxBytes) throw tooLarge(limits);
      yield chunk;
    }
  } finally {
    await reader.drain();
  }
}

function within(
  limits: BodyLimits,
  read: () => Promise<Uint8Array | undefined>,
): () => Promise<Uint8Array | undefined> {
  let size = 0;
  return async () => {
    const chunk = await read();
    size += chunk?.byteLength ?? 0;
    if (size > limits.maxBytes) throw tooLarge(limits);
    return chunk;
  };
}

function encodingOf(header: string | null): BodyEncoding | "identity" {
  const encoding = (header ?? "").trim().toLowerCase();
  switch (encoding) {
    case "":
    case "identity":
      return "identity";
    case "gzip":
    case "x-gzip":
      return "gzip";
    case "zstd":
      return "zstd";
    default:
      throw new ApiError(
        "unsupported_media_type",
        `Content-Encoding "${encoding}" is not supported; send identity, gzip or zstd`,
      );
  }
}

function tooLarge({ maxBytes }: BodyLimits): ApiError {
  return new ApiError("payload_too_large", `Request body is larger than ${maxBytes} bytes`);
}
