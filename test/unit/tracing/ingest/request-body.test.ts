import { constants, createZstdCompress, gzipSync, zstdCompressSync } from "node:zlib";
import fc from "fast-check";
import { describe, test, vi } from "vitest";
import {
  collectRequestBody,
  type EncodedBody,
  readRequestBody,
} from "../../../../src/tracing/ingest/decode/request-body.ts";
import { concat, evenChunks, inChunks, rejection, textOf, thrown, utf8 } from "./support/bytes.ts";

const MAX_BYTES = 1_000_000;

function requestOf(chunks: AsyncGenerator<Uint8Array>, encoding = "identity"): EncodedBody {
  const body = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      const { done, value } = await chunks.next();
      if (done === true) controller.close();
      else controller.enqueue(value);
    },
  });
  return { headers: new Headers({ "content-encoding": encoding }), body };
}

async function read(
  bytes: Uint8Array,
  encoding?: string,
  maxBytes = MAX_BYTES,
  chunkBytes = 1000,
): Promise<Uint8Array> {
  return concat(readRequestBody(requestOf(evenChunks(bytes, chunkBytes), encoding), { maxBytes }));
}

function zstdWithChecksum(bytes: Uint8Array): Buffer {
  return zstdCompressSync(bytes, { params: { [constants.ZSTD_c_checksumFlag]: 1 } });
}

describe("readRequestBody", () => {
  test("passes a body without encoding, or with identity, through", async ({ expect }) => {
    const bytes = utf8("hello");
    expect(textOf(await read(bytes))).toBe("hello");
    expect(textOf(await read(bytes, "identity"))).toBe("hello");
    expect(textOf(await read(bytes, " IDENTITY "))).toBe("hello");
  });

  test("reads a request of the platform, which is a byte stream", async ({ expect }) => {
    const text = "some text ".repeat(20_000);
    const request = new Request("http://localhost/", { method: "POST", body: text });
    expect(textOf(await collectRequestBody(request, { maxBytes: MAX_BYTES }))).toBe(text);
  });

  test("treats a request without a body as empty", async ({ expect }) => {
    const request = new Request("http://localhost/", { method: "POST" });
    expect(await collectRequestBody(request, { maxBytes: 1 })).toEqual(new Uint8Array(0));
  });

  test.for([
    ["gzip", gzipSync],
    ["x-gzip", gzipSync],
    ["zstd", zstdCompressSync],
  ] as const)("decodes %s, however it is split", async ([encoding, compress], { expect }) => {
    const cut = fc.array(fc.integer({ min: 1, max: 50 }), { maxLength: 100 });
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 5000 }), cut, async (bytes, sizes) => {
        const request = requestOf(inChunks(compress(bytes), sizes), encoding);
        const decoded = await concat(readRequestBody(request, { maxBytes: MAX_BYTES }));
        expect(decoded).toEqual(bytes);
      }),
      { numRuns: 30 },
    );
  });

  test.for([
    ["gzip", gzipSync],
    ["zstd", zstdCompressSync],
  ] as const)("decodes consecutive %s members", async ([encoding, compress], { expect }) => {
    const bytes = Buffer.concat(["one ", "two ", "three"].map((text) => compress(utf8(text))));
    for (let chunkBytes = 1; chunkBytes <= bytes.byteLength; chunkBytes += 1) {
      expect(textOf(await read(bytes, encoding, MAX_BYTES, chunkBytes))).toBe("one two three");
    }
  });

  test("yields decoded bytes before the rest has arrived", async ({ expect }) => {
    const compressor = createZstdCompress();
    const written: Uint8Array[] = [];
    compressor.on("data", (chunk: Uint8Array) => written.push(chunk));
    compressor.write("first half");
    await new Promise((resolve) => compressor.flush(constants.ZSTD_e_flush, () => resolve(null)));
    async function* stalled(): AsyncGenerator<Uint8Array> {
      yield* written;
      await new Promise(() => undefined);
    }
    const chunks = readRequestBody(requestOf(stalled(), "zstd"), { maxBytes: MAX_BYTES });
    const { value } = await chunks.next();
    expect(value === undefined ? null : textOf(value as Uint8Array)).toBe("first half");
  });

  test.for(["br", "deflate", "gzip, zstd"])("refuses the encoding %s", (encoding, { expect }) => {
    const error = thrown(() =>
      readRequestBody(requestOf(evenChunks(utf8("x"), 1), encoding), { maxBytes: 1 }),
    );
    expect(error).toMatchObject({
      code: "unsupported_media_type",
      message: `Content-Encoding "${encoding}" is not supported; send identity, gzip or zstd`,
    });
  });

  test("accepts a body of exactly the limit and refuses one byte more", async ({ expect }) => {
    for (const [encoding, encode] of [
      ["identity", (bytes: Uint8Array) => bytes],
      ["gzip", gzipSync],
      ["zstd", zstdCompressSync],
    ] as const) {
      const bytes = encode(Buffer.alloc(5000, "a"));
      expect((await read(bytes, encoding, 5000)).byteLength).toBe(5000);
      expect(await rejection(read(bytes, encoding, 4999))).toMatchObject({
        code: "payload_too_large",
        message: "Request body is larger than 4999 bytes",
      });
    }
  });

  test("yields nothing if the declared length exceeds the limit, and drains the body", async ({
    expect,
  }) => {
    const headers = new Headers({ "content-length": "11" });
    let chunks = 3;
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        if (chunks === 0) return controller.close();
        chunks -= 1;
        controller.enqueue(new Uint8Array(4));
      },
    });
    const given: Uint8Array[] = [];
    const read = async (): Promise<void> => {
      for await (const chunk of readRequestBody({ headers, body }, { maxBytes: 10 })) {
        given.push(chunk);
      }
    };
    expect(await rejection(read())).toMatchObject({ code: "payload_too_large" });
    expect(given).toEqual([]);
    expect(chunks).toBe(0);
  });

  test.for([
    ["gzip", gzipSync],
    ["zstd", zstdCompressSync],
  ] as const)("stops a %s bomb soon after the limit", async ([encoding, compress], { expect }) => {
    const bomb = compress(Buffer.alloc(100_000_000));
    const seen: number[] = [];
    const consume = async (): Promise<void> => {
      const chunks = readRequestBody(requestOf(evenChunks(bomb, bomb.byteLength), encoding), {
        maxBytes: MAX_BYTES,
      });
      for await (const chunk of chunks) seen.push(chunk.byteLength);
    };
    expect(await rejection(consume())).toMatchObject({ code: "payload_too_large" });
    expect(Math.max(...seen)).toBeLessThanOrEqual(128 * 1024);
    expect(seen.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(MAX_BYTES);
  });

  test("counts compressed bytes that decode to nothing", async ({ expect }) => {
    // This is a skippable frame of 2000 bytes.
    const frame = Buffer.alloc(2008);
    frame.writeUInt32LE(0x184d2a50, 0);
    frame.writeUInt32LE(2000, 4);
    expect(await read(frame, "zstd", 3000)).toEqual(new Uint8Array(0));
    expect(await rejection(read(frame, "zstd", 1000))).toMatchObject({ code: "payload_too_large" });
  });

  test("refuses a text with too many frames", async ({ expect }) => {
    const frame = zstdCompressSync(utf8("x"));
    const frames = Buffer.concat(Array.from({ length: 101 }, () => frame));
    const error = await rejection(read(frames, "zstd", MAX_BYTES, frames.byteLength));
    expect(error).toMatchObject({
      code: "bad_request",
      message: "Request body is not valid zstd: more than 100 members",
    });
  });

  test("refuses a zstd window beyond 8 MiB", async ({ expect }) => {
    const chunks: Uint8Array[] = [];
    const compressor = createZstdCompress({ params: { [constants.ZSTD_c_windowLog]: 24 } });
    compressor.on("data", (chunk: Uint8Array) => chunks.push(chunk));
    compressor.end(utf8("text"));
    await new Promise((resolve) => compressor.on("end", resolve));
    expect(await rejection(read(Buffer.concat(chunks), "zstd"))).toMatchObject({
      code: "bad_request",
      message: expect.stringContaining("requires too much memory"),
    });
  });

  test.for([
    ["gzip", gzipSync],
    ["zstd", zstdWithChecksum],
  ] as const)("refuses broken %s", async ([encoding, compress], { expect }) => {
    const good = compress(utf8("some text ".repeat(100)));
    const flipped = Buffer.from(good);
    flipped[good.byteLength - 6] = (flipped[good.byteLength - 6] ?? 0) ^ 0xff;
    const broken = {
      "not compressed": utf8("plain text"),
      "garbage behind": Buffer.concat([good, utf8("garbage")]),
      "a byte changed": flipped,
    };
    for (const [what, bytes] of Object.entries(broken)) {
      expect(await rejection(read(bytes, encoding)), what).toMatchObject({
        code: "bad_request",
        message: expect.stringMatching(new RegExp(`^Request body is not valid ${encoding}: .`)),
      });
    }
  });

  test.for(["identity", "gzip"])(
    "reports an aborted upload (%s) as the client's fault",
    async (encoding, { expect }) => {
      async function* broken(): AsyncGenerator<Uint8Array> {
        yield encoding === "gzip" ? gzipSync(utf8("hello")).subarray(0, 15) : utf8("hello");
        throw new TypeError("connection lost");
      }
      const error = await rejection(
        concat(readRequestBody(requestOf(broken(), encoding), { maxBytes: 100 })),
      );
      expect(error).toMatchObject({
        code: "bad_request",
        message: "Request body could not be read to its end",
      });
    },
  );

  test.for(["identity", "zstd"])(
    "drains a part of the rest when its reader stops, then cancels the body (%s)",
    async (encoding, { expect }) => {
      let cancelled = false;
      let chunks = 0;
      const chunk = new Uint8Array(1_000_000);
      chunk.set(zstdCompressSync(utf8("hello")));
      const body = new ReadableStream<Uint8Array>({
        pull: (controller) => {
          chunks += 1;
          controller.enqueue(chunk);
        },
        cancel: () => {
          cancelled = true;
        },
      });
      const headers = new Headers({ "content-encoding": encoding });
      for await (const chunk of readRequestBody({ headers, body }, { maxBytes: 2_000_000 })) {
        expect(chunk.byteLength).toBeGreaterThan(0);
        break;
      }
      expect(cancelled).toBe(true);
      // The limit is 64 MiB, and streams read ahead.
      expect(chunks).toBeGreaterThan(60);
      expect(chunks).toBeLessThan(80);
    },
  );

  test("waits a minute for a stalled body, then cancels it", async ({ expect }) => {
    vi.useFakeTimers();
    try {
      let cancelled = false;
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => controller.enqueue(utf8("too much")),
        cancel: () => {
          cancelled = true;
        },
      });
      const request = { headers: new Headers(), body };
      const refused = rejection(collectRequestBody(request, { maxBytes: 3 }));
      await vi.advanceTimersByTimeAsync(59_999);
      expect(cancelled).toBe(false);
      await vi.advanceTimersByTimeAsync(1);
      expect(cancelled).toBe(true);
      expect(await refused).toMatchObject({ code: "payload_too_large" });
    } finally {
      vi.useRealTimers();
    }
  });

  test.for(["identity", "zstd"])(
    "does not cancel a body that is read to its end (%s)",
    async (encoding, { expect }) => {
      let cancelled = false;
      const text = utf8("hello");
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => {
          controller.enqueue(encoding === "zstd" ? new Uint8Array(zstdCompressSync(text)) : text);
          controller.close();
        },
        cancel: () => {
          cancelled = true;
        },
      });
      const headers = new Headers({ "content-encoding": encoding });
      const bytes = await collectRequestBody({ headers, body }, { maxBytes: 1000 });
      expect([textOf(bytes), cancelled]).toEqual(["hello", false]);
    },
  );
});
