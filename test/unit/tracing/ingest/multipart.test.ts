import fc from "fast-check";
import { describe, test } from "vitest";
import {
  multipartBoundary,
  MultipartReader,
} from "../../../../src/tracing/ingest/decode/multipart.ts";
import { PartTooLarge } from "../../../../src/tracing/ingest/decode/part-body.ts";
import { concat, evenChunks, inChunks, rejection, textOf, thrown, utf8 } from "./support/bytes.ts";
import { BOUNDARY, writeMultipart, type WrittenPart } from "./support/multipart-text.ts";

type ReadPart = { name: string; contentType: string; length: number | null; body: string };

function readerOf(body: Uint8Array | string, sizes: readonly number[] = []): MultipartReader {
  const bytes = typeof body === "string" ? utf8(body) : body;
  return new MultipartReader(inChunks(bytes, sizes), BOUNDARY, { maxParts: 100 });
}

async function read(body: Uint8Array | string, sizes: readonly number[] = []): Promise<ReadPart[]> {
  const reader = readerOf(body, sizes);
  const parts: ReadPart[] = [];
  for (let part = await reader.next(); part !== null; part = await reader.next()) {
    const { name, contentType, length } = part;
    parts.push({ name, contentType, length, body: textOf(await part.bytes(100_000)) });
  }
  return parts;
}

function part(headers: string, body = "x"): string {
  return `--B7\r\n${headers}\r\n\r\n${body}\r\n--B7--\r\n`;
}

const NAMED = 'Content-Disposition: form-data; name="a"';

describe("multipartBoundary", () => {
  test("reads the parameter, quoted or not", ({ expect }) => {
    expect(multipartBoundary("multipart/form-data; boundary=----LangSmithFormBoundaryx1")).toBe(
      "----LangSmithFormBoundaryx1",
    );
    expect(multipartBoundary('Multipart/Form-Data; charset=utf-8; Boundary="a b;c"')).toBe("a b;c");
  });

  test("refuses a missing or different content type", ({ expect }) => {
    expect(thrown(() => multipartBoundary("application/json"))).toMatchObject({
      code: "unsupported_media_type",
      message: 'Content-Type is "application/json"; send multipart/form-data',
    });
    expect(thrown(() => multipartBoundary(null))).toMatchObject({ code: "unsupported_media_type" });
  });

  test("refuses a missing, empty or overlong boundary", ({ expect }) => {
    for (const parameters of ["", "; boundary=", `; boundary=${"x".repeat(201)}`]) {
      expect(thrown(() => multipartBoundary(`multipart/form-data${parameters}`))).toMatchObject({
        code: "bad_request",
        message: "Content-Type has no valid boundary parameter",
      });
    }
  });
});

describe("MultipartReader", () => {
  test("reads the SDKs' bodies", async ({ expect }) => {
    const body = writeMultipart([
      { name: "post.1", body: '{"a":1}' },
      { name: "post.1.inputs", body: '{"q":"hé"}', length: "header" },
      { name: "attachment.1.photo", body: "\r\n--B7\r\n", contentType: "image/png" },
      { name: "post.2", body: "", length: "none" },
    ]);
    expect(await read(body)).toEqual([
      { name: "post.1", contentType: "application/json", length: 7, body: '{"a":1}' },
      { name: "post.1.inputs", contentType: "application/json", length: 11, body: '{"q":"hé"}' },
      { name: "attachment.1.photo", contentType: "image/png", length: 8, body: "\r\n--B7\r\n" },
      { name: "post.2", contentType: "application/json", length: null, body: "" },
    ]);
  });

  test("yields available parts without waiting", ({ expect }) => {
    const reader = readerOf(
      writeMultipart([
        { name: "a", body: "1" },
        { name: "b", body: "2" },
      ]),
    );
    const first = reader.next();
    expect(first).toBeInstanceOf(Promise);
    return Promise.resolve(first).then((part) => {
      expect(part === null ? null : textOf(part.bytes(10) as Uint8Array)).toBe("1");
      const second = reader.next();
      expect(second).toMatchObject({ name: "b" });
    });
  });

  test("yields the same parts however the body is split and its lines end", async ({ expect }) => {
    const written = fc.record({
      name: fc.stringMatching(/^[a-z.]{1,20}$/),
      body: fc.oneof(
        fc.string({ maxLength: 200 }),
        fc
          .array(fc.constantFrom("\r", "\n", "-", "B", "7", "--B7", "\r\n--B7", "a"), {
            maxLength: 12,
          })
          .map((pieces) => pieces.join("")),
      ),
      contentType: fc.constantFrom("application/json", "text/plain; charset=utf-8"),
      length: fc.constantFrom("parameter" as const, "header" as const),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(written, { maxLength: 6 }),
        fc.constantFrom("\r\n", "\n"),
        fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 200 }),
        async (parts, eol, sizes) => {
          const expected = parts.map(({ name, body, contentType }) => ({
            name,
            contentType,
            length: utf8(body).byteLength,
            body,
          }));
          expect(await read(writeMultipart(parts, eol), sizes)).toEqual(expected);
        },
      ),
      { numRuns: 200 },
    );
  });

  test("finds the end of parts without a length, however the body is split", async ({ expect }) => {
    // Text that only begins like the boundary belongs to the content.
    const lookalikes = [
      "\r",
      "\n",
      "-",
      "--B",
      "\n--B",
      "\r\n--B78",
      "\r\n--B7-x",
      "\n--B7x",
      "ab",
    ];
    const written = fc.record({
      name: fc.constant("a"),
      body: fc
        .array(fc.constantFrom(...lookalikes), { maxLength: 10 })
        // A CR at the end would be treated as a part of the line end.
        .map((pieces) => `${pieces.join("")}.`),
      length: fc.constant("none" as const),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(written, { minLength: 1, maxLength: 4 }),
        fc.constantFrom("\r\n", "\n"),
        fc.array(fc.integer({ min: 1, max: 20 }), { maxLength: 200 }),
        async (parts, eol, sizes) => {
          const read_ = await read(writeMultipart(parts, eol), sizes);
          expect(read_.map(({ body }) => body)).toEqual(parts.map(({ body }) => body));
        },
      ),
      { numRuns: 200 },
    );
  });

  test("ignores the text before the first boundary and after the last", async ({ expect }) => {
    const body = textOf(writeMultipart([{ name: "a", body: "1" }]));
    const expected = [{ name: "a", contentType: "application/json", length: 1, body: "1" }];
    for (const preamble of ["\r\n", "This is MIME.\r\n", "--B6\r\n--B\n", "\n"]) {
      for (const sizes of [[], [1, 1, 1, 1, 1, 1, 1, 1], [3, 3, 3]]) {
        expect(await read(`${preamble}${body}epilogue\r\n--B7\r\n`, sizes)).toEqual(expected);
      }
    }
  });

  test("yields no parts for a body with only the final boundary", async ({ expect }) => {
    expect(await read("--B7--")).toEqual([]);
    expect(await read("--B7--\r\n", [1, 1, 1, 1, 1, 1, 1])).toEqual([]);
  });

  test("reads to the end of its input, where a checksum may be", async ({ expect }) => {
    let ended = false;
    async function* source(): AsyncGenerator<Uint8Array> {
      yield writeMultipart([{ name: "a", body: "1" }]);
      yield utf8("epilogue");
      ended = true;
    }
    const reader = new MultipartReader(source(), BOUNDARY, { maxParts: 10 });
    await reader.next();
    expect(await reader.next()).toBeNull();
    expect(ended).toBe(true);
    expect(await reader.next()).toBeNull();
  });

  test("accepts spaces after a boundary, unquoted and escaped names, and folded headers", async ({
    expect,
  }) => {
    const body = [
      "--B7 \t\r\ncontent-disposition:form-data;name=plain\r\n\r\n1\r\n",
      '--B7\r\nContent-Disposition: form-data;\r\n name="folded"\r\n\r\n2\r\n',
      '--B7\r\nContent-Disposition: form-data; name="a \\"b\\" c\\\\d"; filename="x"\r\n\r\n3\r\n',
      '--B7\r\nContent-Disposition: form-data; name="a "b" c"\r\n\r\n4\r\n',
      '--B7\r\nContent-Disposition: form-data; name="100%25 %22é%22"\r\n\r\n5\r\n',
      "--B7--",
    ].join("");
    expect((await read(body)).map(({ name }) => name)).toEqual([
      "plain",
      "folded",
      String.raw`a "b" c\d`,
      'a "b" c',
      '100%25 "é"',
    ]);
  });

  test("removes the length parameter from the content type", async ({ expect }) => {
    const types = {
      "image/png; length=1": "image/png",
      'text/plain; charset="utf-8"; Length="1"': "text/plain; charset=utf-8",
      'x/y;length=1 ; title="a;b"': 'x/y; title="a;b"',
      "; length=1": "",
    };
    for (const [type, contentType] of Object.entries(types)) {
      const parts = await read(part(`${NAMED}\r\nContent-Type: ${type}`));
      expect(parts).toEqual([{ name: "a", contentType, length: 1, body: "x" }]);
    }
  });

  test("streams an incomplete part, and reads on after it", async ({ expect }) => {
    const content = "0123456789".repeat(1000);
    for (const length of ["parameter", "none"] as const) {
      const body = writeMultipart([
        { name: "big", body: content, length },
        { name: "next", body: "1" },
      ]);
      const reader = new MultipartReader(evenChunks(body, 333), BOUNDARY, { maxParts: 10 });
      const big = await reader.next();
      const streamed = big === null ? null : await concat(big.stream());
      expect(streamed === null ? null : textOf(streamed)).toBe(content);
      expect(await reader.next()).toMatchObject({ name: "next" });
    }
  });

  test("reads no more of its input than a stream's reader requests", async ({ expect }) => {
    const body = writeMultipart([{ name: "big", body: new Uint8Array(10_000) }]);
    let given = 0;
    async function* source(): AsyncGenerator<Uint8Array> {
      for await (const chunk of evenChunks(body, 100)) {
        given += chunk.byteLength;
        yield chunk;
      }
    }
    const reader = new MultipartReader(source(), BOUNDARY, { maxParts: 10 });
    const stream = (await reader.next())?.stream().getReader();
    await stream?.read();
    await stream?.read();
    expect(given).toBeLessThanOrEqual(400);
  });

  test("skips a part that is not read, or reads it to its end", async ({ expect }) => {
    const parts: WrittenPart[] = [
      { name: "a", body: "x".repeat(1000) },
      { name: "b", body: "y".repeat(1000), length: "none" },
      { name: "c", body: "z" },
    ];
    const reader = new MultipartReader(evenChunks(writeMultipart(parts), 64), BOUNDARY, {
      maxParts: 10,
    });
    const stream = (await reader.next())?.stream().getReader();
    await stream?.read();
    expect(await reader.next()).toMatchObject({ name: "b" });
    expect(await reader.next()).toMatchObject({ name: "c" });
    expect(await reader.next()).toBeNull();
  });

  test("breaks a stream that is read too late, instead of ending it", async ({ expect }) => {
    const body = writeMultipart([
      { name: "a", body: "x".repeat(1000) },
      { name: "b", body: "y" },
    ]);
    const reader = new MultipartReader(evenChunks(body, 100), BOUNDARY, { maxParts: 10 });
    const stream = (await reader.next())?.stream();
    await reader.next();
    const late = stream === undefined ? Promise.resolve() : concat(stream);
    expect(String(await rejection(late))).toBe('Error: part "a" was skipped before it was read');
  });

  test("skips a part that is too large for its reader", async ({ expect }) => {
    for (const length of ["parameter", "none"] as const) {
      for (const chunkBytes of [50, 10_000]) {
        const body = writeMultipart([
          { name: "a", body: "x".repeat(1001), length },
          { name: "b", body: "y".repeat(1000), length },
        ]);
        const reader = new MultipartReader(evenChunks(body, chunkBytes), BOUNDARY, {
          maxParts: 10,
        });
        const a = await reader.next();
        const error = await rejection((async () => a?.bytes(1000))());
        expect(error).toBeInstanceOf(PartTooLarge);
        expect(error).toMatchObject({ message: "larger than 1000 bytes" });
        const b = await reader.next();
        expect((await b?.bytes(1000))?.byteLength).toBe(1000);
        expect(await reader.next()).toBeNull();
      }
    }
  });

  test("names the part of a wrong length in the error", async ({ expect }) => {
    for (const length of [0, 4, 6, 7, 50]) {
      const body = writeMultipart([
        { name: "a", body: "12345", length },
        { name: "b", body: "x".repeat(100) },
      ]);
      for (const sizes of [[], Array.from({ length: 300 }, () => 1)]) {
        expect(await rejection(read(body, sizes)), `length ${length}`).toMatchObject({
          code: "bad_request",
          message: `Multipart part "a": its length is ${length}, but no boundary follows there`,
        });
      }
    }
  });

  test("names the part of a length beyond the body's end in the error", async ({ expect }) => {
    const body = writeMultipart([{ name: "a", body: "12345", length: 5000 }]);
    expect(await rejection(read(body))).toMatchObject({
      code: "bad_request",
      message: 'Multipart part "a": the request body ends before the boundary that follows it',
    });
  });

  test("also breaks the stream of a part with a wrong length", async ({ expect }) => {
    const reader = readerOf(writeMultipart([{ name: "a", body: "12345", length: 4 }]));
    const stream = (await reader.next())?.stream();
    expect(
      await rejection(stream === undefined ? Promise.resolve() : concat(stream)),
    ).toMatchObject({
      code: "bad_request",
      message: 'Multipart part "a": its length is 4, but no boundary follows there',
    });
  });

  test("fails on a body that is cut off anywhere", async ({ expect }) => {
    const whole = writeMultipart([
      { name: "a", body: "12345", length: "none" },
      { name: "b", body: "67890" },
    ]);
    // The line end after the final boundary is optional.
    for (let length = 0; length < whole.byteLength - 2; length += 1) {
      const error = await rejection(read(whole.subarray(0, length)));
      expect(error, `first ${length} bytes`).toMatchObject({ code: "bad_request" });
    }
    expect(await rejection(read(whole.subarray(0, whole.byteLength - 4)))).toMatchObject({
      message: "Multipart body is cut off: it ends before its final boundary",
    });
    expect(await rejection(read(""))).toMatchObject({
      message: "Request body does not contain the multipart boundary",
    });
    expect(await rejection(read('{"post": []}'))).toMatchObject({
      message: "Request body does not contain the multipart boundary",
    });
  });

  test.for([
    ["Content-Type: text/plain", "A multipart part has no name in its Content-Disposition"],
    [
      'Content-Disposition: form-data; name=""',
      "A multipart part has no name in its Content-Disposition",
    ],
    [
      'Content-Disposition: attachment; name="a"',
      'Multipart part "a": its Content-Disposition is "attachment", not form-data',
    ],
    [
      `${NAMED}\r\nContent-Encoding: gzip`,
      'Multipart part "a": Content-Encoding is not allowed on a part, only on the whole request',
    ],
    [
      `${NAMED}\r\nContent-Transfer-Encoding: base64`,
      'Multipart part "a": Content-Transfer-Encoding "base64" is not supported',
    ],
    [
      `${NAMED}\r\nContent-Length: -1`,
      'Multipart part "a": its length "-1" is not a number of bytes',
    ],
    [
      `${NAMED}\r\nContent-Length: 99999999999999999999`,
      'Multipart part "a": its length "99999999999999999999" is not a number of bytes',
    ],
    [
      `${NAMED}\r\nContent-Type: x/y; length=ten`,
      'Multipart part "a": its length "ten" is not a number of bytes',
    ],
    [
      `${NAMED}\r\nContent-Length: 1\r\nContent-Type: x/y; length=2`,
      'Multipart part "a": Content-Length is 1, but its type says length=2',
    ],
    [`${NAMED}\r\nno colon here`, 'Multipart header line without a name: "no colon here"'],
  ] as const)("refuses the headers %j", async ([headers, message], { expect }) => {
    expect(await rejection(read(part(headers)))).toMatchObject({ code: "bad_request", message });
  });

  test("refuses a part without headers", async ({ expect }) => {
    expect(await rejection(read("--B7\r\n\r\nx\r\n--B7--"))).toMatchObject({
      message: "A multipart part has no name in its Content-Disposition",
    });
  });

  test("refuses headers that are not UTF-8", async ({ expect }) => {
    const bytes = utf8(part(NAMED.replace("a", "?")));
    bytes[bytes.indexOf("?".charCodeAt(0))] = 0xff;
    expect(await rejection(read(bytes))).toMatchObject({
      code: "bad_request",
      message: "The headers of a multipart part are not UTF-8",
    });
  });

  test("refuses a boundary line with further text", async ({ expect }) => {
    for (const body of ["--B7x\r\n", "--B7-\r\n", "--B7 x\r\n"]) {
      expect(await rejection(read(`${body}${NAMED}\r\n\r\nx\r\n--B7--`))).toMatchObject({
        code: "bad_request",
        message: "A multipart boundary is followed by neither a new line nor --",
      });
    }
  });

  test("refuses headers of more than 16 KiB, also if they never end", async ({ expect }) => {
    const limit = "The headers of a multipart part are larger than 16384 bytes";
    const long = `${NAMED}\r\nX-Long: ${"x".repeat(16_384)}`;
    expect(await rejection(read(part(long)))).toMatchObject({ message: limit });
    const endless = `--B7\r\n${"X: y\r\n".repeat(10_000)}`;
    expect(
      await rejection(
        read(
          endless,
          Array.from({ length: 5000 }, () => 10),
        ),
      ),
    ).toMatchObject({
      message: limit,
    });
    const fits = `${NAMED}\r\nX-Long: ${"x".repeat(16_000)}`;
    expect((await read(part(fits))).length).toBe(1);
  });

  test("refuses more parts than allowed", async ({ expect }) => {
    const parts = Array.from({ length: 101 }, (_, index) => ({ name: `p${index}`, body: "1" }));
    expect((await read(writeMultipart(parts.slice(1)))).length).toBe(100);
    expect(await rejection(read(writeMultipart(parts)))).toMatchObject({
      code: "payload_too_large",
      message: "Multipart body has more than 100 parts",
    });
  });

  test("yields parts or an ApiError for any bytes, and never anything else", async ({ expect }) => {
    const noise = fc
      .array(
        fc.constantFrom(
          "--B7",
          "\r\n",
          "\n",
          "--",
          "x",
          NAMED,
          "Content-Length: 3",
          ":",
          "\0",
          " ",
        ),
        { maxLength: 30 },
      )
      .map((pieces) => utf8(pieces.join("")));
    await fc.assert(
      fc.asyncProperty(noise, fc.array(fc.integer({ min: 1, max: 9 })), async (bytes, sizes) => {
        const outcome = await read(bytes, sizes).catch((error: unknown) => error);
        if (!Array.isArray(outcome)) {
          expect(outcome).toMatchObject({ name: "ApiError", code: "bad_request" });
        }
        // The split into chunks makes no difference.
        expect(await read(bytes).catch((error: unknown) => error)).toEqual(outcome);
      }),
      { numRuns: 500 },
    );
  });
});
