import fc from "fast-check";
import { describe, test } from "vitest";
import {
  decodeMultipartRuns,
  type MultipartItem,
} from "../../../../src/tracing/ingest/decode/multipart-runs.ts";
import { concat, evenChunks, inChunks, rejection, textOf, utf8 } from "./support/bytes.ts";
import { BOUNDARY, writeMultipart, type WrittenPart } from "./support/multipart-text.ts";
import { CHILD, OTHER, ROOT, ROOT_ORDER, rootRun, START } from "./support/sample-runs.ts";

const TYPE = `multipart/form-data; boundary=${BOUNDARY}`;
const LIMITS = { maxParts: 5000, maxPartBytes: 20_000_000 };

function run(kind: "post" | "patch", id: string, more: Record<string, unknown> = {}): WrittenPart {
  return { name: `${kind}.${id}`, body: JSON.stringify(rootRun(id, more)) };
}

function field(kind: "post" | "patch", id: string, name: string, body: string): WrittenPart {
  return { name: `${kind}.${id}.${name}`, body };
}

/** Returns a summary of an item; streams are read. */
async function summary(item: MultipartItem): Promise<string> {
  switch (item.type) {
    case "write": {
      const payloads = Object.entries(item.write.payloads).map(
        ([field, payload]) => `${field}=${"json" in payload ? payload.json : "?"}`,
      );
      return [item.write.kind, item.write.id, ...payloads].join(" ");
    }
    case "failure":
      return `failure ${item.failure.runId} ${item.failure.message}`;
    case "feedback":
      return `feedback ${item.id} ${JSON.stringify(item.value)}`;
    case "attachment": {
      const { runId, name, mimeType, length } = item;
      const content = textOf(await concat(item.stream));
      return `attachment ${runId} ${name} ${mimeType} ${length} ${content}`;
    }
  }
}

/** Returns the items, and the error at the end, if there is one. */
async function decode(
  body: Uint8Array,
  sizes: readonly number[] = [],
  limits = LIMITS,
): Promise<string[]> {
  const items: string[] = [];
  try {
    for await (const item of decodeMultipartRuns(inChunks(body, sizes), TYPE, limits)) {
      items.push(await summary(item));
    }
  } catch (error) {
    items.push(`error ${String(error)}`);
  }
  return items;
}

function decodeParts(parts: WrittenPart[], limits = LIMITS): Promise<string[]> {
  return decode(writeMultipart(parts), [], limits);
}

describe("decodeMultipartRuns", () => {
  test("joins the parts of a run", async ({ expect }) => {
    const body = writeMultipart([
      run("post", ROOT, { session_name: "demo" }),
      field("post", ROOT, "inputs", '{"n": 12345678901234567890}'),
      field("post", ROOT, "extra", '{"metadata": {}}'),
      field("post", ROOT, "error", "null"),
    ]);
    const items: MultipartItem[] = [];
    for await (const item of decodeMultipartRuns(inChunks(body, []), TYPE, LIMITS))
      items.push(item);
    expect(items).toEqual([
      {
        type: "write",
        write: {
          kind: "post",
          id: ROOT,
          identity: { traceId: ROOT, parentRunId: null, dottedOrder: ROOT_ORDER },
          project: { name: "demo" },
          name: "agent",
          runType: "chain",
          startTime: START,
          payloads: {
            inputs: { json: '{"n": 12345678901234567890}' },
            extra: { json: '{"metadata": {}}' },
          },
          facts: {
            inputsPreview: "12345678901234567000".replace(/^/, '{"n":') + "}",
            inputLeaves: JSON.stringify([["n", "12345678901234567000"]]),
          },
        },
      },
    ]);
  });

  test("yields everything in order, and attachments before their run", async ({ expect }) => {
    const feedback = { id: OTHER, run_id: ROOT, key: "score", score: 1 };
    const items = await decodeParts([
      run("post", ROOT),
      field("post", ROOT, "inputs", "1"),
      { name: `attachment.${ROOT}.photo`, body: "<bytes>", contentType: "image/png" },
      { name: `attachment.${ROOT}.notes`, body: "text", contentType: "", length: "none" },
      run("post", CHILD),
      { name: `feedback.${OTHER.toUpperCase()}`, body: JSON.stringify(feedback) },
      field("post", CHILD, "outputs", "2"),
      run("patch", ROOT),
      field("patch", ROOT, "outputs", "3"),
    ]);
    expect(items).toEqual([
      `attachment ${ROOT} photo image/png 7 <bytes>`,
      `attachment ${ROOT} notes application/octet-stream null text`,
      `post ${ROOT} inputs=1`,
      `feedback ${OTHER} ${JSON.stringify(feedback)}`,
      `post ${CHILD} outputs=2`,
      `patch ${ROOT} outputs=3`,
    ]);
  });

  test("yields a create and an update of one run as two writes", async ({ expect }) => {
    const parts = [
      run("post", ROOT),
      field("post", ROOT, "inputs", "1"),
      run("patch", ROOT),
      field("patch", ROOT, "outputs", "2"),
    ];
    expect(await decodeParts(parts)).toEqual([`post ${ROOT} inputs=1`, `patch ${ROOT} outputs=2`]);
  });

  test("yields a late field as a separate update", async ({ expect }) => {
    const parts = [
      run("post", ROOT),
      run("post", CHILD),
      field("post", ROOT, "inputs", "1"),
      field("post", ROOT, "outputs", "2"),
      field("post", CHILD, "inputs", "3"),
    ];
    expect(await decodeParts(parts)).toEqual([
      `post ${ROOT}`,
      `post ${CHILD}`,
      `patch ${ROOT} inputs=1 outputs=2`,
      `patch ${CHILD} inputs=3`,
    ]);
  });

  test("gives a late update the place and the project of its run", async ({ expect }) => {
    const body = writeMultipart([
      run("post", ROOT, { session_id: OTHER }),
      run("post", CHILD),
      field("post", ROOT, "inputs", "1"),
    ]);
    const items: MultipartItem[] = [];
    for await (const item of decodeMultipartRuns(inChunks(body, []), TYPE, LIMITS))
      items.push(item);
    expect(items.at(-1)).toEqual({
      type: "write",
      write: {
        kind: "patch",
        id: ROOT,
        identity: { traceId: ROOT, parentRunId: null, dottedOrder: ROOT_ORDER },
        project: { id: OTHER },
        payloads: { inputs: { json: "1" } },
        facts: { inputsPreview: "1", inputLeaves: JSON.stringify([["", "1"]]) },
      },
    });
  });

  test("holds fields that come before their run", async ({ expect }) => {
    const parts = [
      field("post", ROOT, "inputs", "1"),
      field("post", CHILD, "inputs", "2"),
      run("post", OTHER),
      field("post", ROOT, "outputs", "3"),
      run("post", ROOT),
      field("post", ROOT, "serialized", "4"),
    ];
    expect(await decodeParts(parts)).toEqual([
      `post ${OTHER}`,
      `post ${ROOT} inputs=1 outputs=3 serialized=4`,
      `failure ${CHILD} post.${CHILD}.inputs: the part post.${CHILD} that it belongs to is missing`,
    ]);
  });

  test("bounds the held fields", async ({ expect }) => {
    const fields = Array.from({ length: 1001 }, () => field("post", ROOT, "inputs", "1"));
    const others = [field("post", OTHER, "inputs", "2"), run("post", OTHER), run("post", ROOT)];
    expect(await decodeParts([...fields, ...others])).toEqual([
      `failure ${ROOT} post.${ROOT}.inputs: too much was sent before the part post.${ROOT} that it belongs to`,
      `post ${OTHER} inputs=2`,
    ]);
    const large = JSON.stringify("x".repeat(17 * 1024 * 1024));
    expect(await decodeParts([field("post", ROOT, "inputs", large), ...others])).toEqual([
      `failure ${ROOT} post.${ROOT}.inputs: too much was sent before the part post.${ROOT} that it belongs to`,
      `post ${OTHER} inputs=2`,
    ]);
  });

  test("fails only the run of a bad part", async ({ expect }) => {
    const good = [run("post", OTHER), field("post", OTHER, "inputs", "1")];
    const cases: [WrittenPart[], string][] = [
      [
        [
          run("post", ROOT),
          field("post", ROOT, "inputs", "{"),
          field("post", ROOT, "outputs", "1"),
        ],
        `post.${ROOT}.inputs: is not JSON: Expected property name or '}' in JSON at position 1 (line 1 column 2)`,
      ],
      [
        [
          run("post", ROOT),
          { name: `post.${ROOT}.inputs`, body: new Uint8Array([0x22, 0xff, 0x22]) },
        ],
        `post.${ROOT}.inputs: is not UTF-8`,
      ],
      [
        [run("post", ROOT), field("post", ROOT, "inputs", "99999999999999999999")],
        `post.${ROOT}.inputs: has the integer 99999999999999999999, which is outside of 64 bits`,
      ],
      [
        [run("post", ROOT), field("post", ROOT, "inputs", "[".repeat(1000) + "]".repeat(1000))],
        `post.${ROOT}.inputs: is nested deeper than 500 levels`,
      ],
      [
        [run("post", ROOT), field("post", ROOT, "extra", "[]")],
        `post.${ROOT}.extra: should be an object`,
      ],
      [
        [field("post", ROOT, "extra", "[]"), run("post", ROOT)],
        `post.${ROOT}.extra: should be an object`,
      ],
      [
        [field("post", ROOT, "inputs", "nope"), run("post", ROOT)],
        `post.${ROOT}.inputs: is not JSON: Unexpected token 'o', "nope" is not valid JSON`,
      ],
      [
        [run("post", ROOT, { name: 1 }), field("post", ROOT, "inputs", "1")],
        `post.${ROOT}.name: should be a string`,
      ],
      [
        [run("post", ROOT, { id: CHILD, dotted_order: undefined })],
        `post.${ROOT}.id: ${CHILD} differs from ${ROOT}, under which the run was sent`,
      ],
      [[{ name: `post.${ROOT}`, body: "[]" }], `post.${ROOT}: a run should be an object`],
      [
        [run("patch", ROOT, { dotted_order: undefined })],
        `patch.${ROOT}.dotted_order: is required`,
      ],
    ];
    for (const [bad, message] of cases) {
      const failure = `failure ${ROOT} ${message}`;
      expect(await decodeParts([...good, ...bad])).toEqual([`post ${OTHER} inputs=1`, failure]);
      expect(await decodeParts([...bad, ...good])).toEqual([failure, `post ${OTHER} inputs=1`]);
    }
  });

  test("keeps the written run after a bad late field", async ({ expect }) => {
    const parts = [
      run("post", ROOT),
      run("post", OTHER),
      field("post", ROOT, "inputs", "?"),
      field("post", ROOT, "outputs", "1"),
    ];
    expect(await decodeParts(parts)).toEqual([
      `post ${ROOT}`,
      `post ${OTHER}`,
      `failure ${ROOT} post.${ROOT}.inputs: is not JSON: Unexpected token '?', "?" is not valid JSON`,
    ]);
  });

  test("fails only the run of a part that is too large, and reads the rest", async ({ expect }) => {
    const limits = { ...LIMITS, maxPartBytes: 1000 };
    const long = JSON.stringify("x".repeat(2000));
    const parts = [
      run("post", ROOT),
      field("post", ROOT, "inputs", long),
      { ...field("post", CHILD, "inputs", long), length: "none" as const },
      run("post", OTHER),
      { name: `attachment.${OTHER}.large`, body: "y".repeat(2000), contentType: "x/y" },
    ];
    const failures = [
      `failure ${ROOT} post.${ROOT}.inputs: is larger than 1000 bytes`,
      `failure ${CHILD} post.${CHILD}.inputs: is larger than 1000 bytes`,
      `attachment ${OTHER} large x/y 2000 ${"y".repeat(2000)}`,
      `post ${OTHER}`,
    ];
    expect(await decodeParts(parts, limits)).toEqual(failures);
    const small = Array.from({ length: 2000 }, () => 10);
    expect(await decode(writeMultipart(parts), small, limits)).toEqual(failures);
  });

  test("reports bad feedback as a failure", async ({ expect }) => {
    expect(
      await decodeParts([{ name: `feedback.${OTHER}`, body: "{" }, run("post", ROOT)]),
    ).toEqual([
      `failure null feedback.${OTHER}: is not JSON: Expected property name or '}' in JSON at position 1 (line 1 column 2)`,
      `post ${ROOT}`,
    ]);
  });

  test.for([
    ["post.1", `failure null post.1: "1" is not a UUID`],
    [`feedback.${ROOT}.x`, `failure null feedback.${ROOT}.x: should be feedback.<id>`],
    [
      `attachment.${ROOT}`,
      `failure ${ROOT} attachment.${ROOT}: an attachment's name should have 1 to 1000 characters, no dot and no NUL`,
    ],
    [
      `attachment.${ROOT}.a.png`,
      `failure ${ROOT} attachment.${ROOT}.a.png: an attachment's name should have 1 to 1000 characters, no dot and no NUL`,
    ],
  ] as const)(
    "reports a part named %s as a failure and nothing more",
    async ([name, failure], { expect }) => {
      const parts = [run("post", OTHER), { name, body: "{}" }, run("post", CHILD)];
      const items = await decodeParts(parts);
      expect(items.filter((item) => item.startsWith("failure"))).toEqual([failure]);
      expect(items.filter((item) => !item.startsWith("failure"))).toEqual([
        `post ${OTHER}`,
        `post ${CHILD}`,
      ]);
    },
  );

  test("ignores unknown parts and members, and lists them", async ({ expect }) => {
    const body = writeMultipart([
      run("post", ROOT, { colour: 1 }),
      { name: "hello", body: "no JSON" },
      field("post", ROOT, "manifest", "{}"),
      field("post", ROOT, "inputs.a", "{}"),
      field("post", ROOT, "inputs", "1"),
      { name: "post", body: "" },
      run("patch", OTHER),
    ]);
    const noted: unknown[] = [];
    const items: string[] = [];
    const source = inChunks(body, []);
    for await (const item of decodeMultipartRuns(source, TYPE, LIMITS, (members) => {
      noted.push(members);
    })) {
      items.push(await summary(item));
    }
    expect(items).toEqual([`post ${ROOT} inputs=1`, `patch ${OTHER}`]);
    expect(noted).toEqual([
      { path: ["post", 0], keys: ["colour"] },
      { path: [], keys: ["hello"] },
      { path: ["post", 0], keys: ["manifest"] },
      { path: ["post", 0], keys: ["inputs.a"] },
      { path: [], keys: ["post"] },
    ]);
  });

  test("accepts ids of 32 digits and in upper case as those with dashes", async ({ expect }) => {
    const parts = [
      { ...run("post", ROOT), name: `post.${ROOT.replaceAll("-", "").toUpperCase()}` },
      field("post", ROOT.toUpperCase(), "inputs", "1"),
    ];
    expect(await decodeParts(parts)).toEqual([`post ${ROOT} inputs=1`]);
  });

  test("skips an attachment that is not read", async ({ expect }) => {
    const body = writeMultipart([
      run("post", ROOT),
      { name: `attachment.${ROOT}.a`, body: "x".repeat(5000), contentType: "x/y" },
      run("post", OTHER),
    ]);
    const types: string[] = [];
    for await (const item of decodeMultipartRuns(evenChunks(body, 100), TYPE, LIMITS)) {
      types.push(item.type === "write" ? item.write.id : item.type);
    }
    expect(types).toEqual(["attachment", ROOT, OTHER]);
  });

  test("does not read on while an attachment is being read", async ({ expect }) => {
    const body = writeMultipart([
      { name: `attachment.${ROOT}.a`, body: "x".repeat(5000), contentType: "x/y" },
      run("post", ROOT),
    ]);
    let given = 0;
    async function* source(): AsyncGenerator<Uint8Array> {
      for await (const chunk of evenChunks(body, 100)) {
        given += chunk.byteLength;
        yield chunk;
      }
    }
    const items = decodeMultipartRuns(source(), TYPE, LIMITS);
    const first = await items.next();
    expect(first.value).toMatchObject({ type: "attachment", name: "a", length: 5000 });
    expect(given).toBeLessThanOrEqual(200);
  });

  test("yields complete items before an error of the framing", async ({ expect }) => {
    const whole = writeMultipart([
      run("post", ROOT),
      run("post", OTHER),
      field("post", OTHER, "inputs", "1"),
    ]);
    expect(await decode(whole.subarray(0, whole.byteLength - 9))).toEqual([
      `post ${ROOT}`,
      `error ApiError: Multipart part "post.${OTHER}.inputs": the request body ends before the boundary that follows it`,
    ]);
    const wrong = [run("post", ROOT), { ...run("post", OTHER), length: 10 }, run("post", CHILD)];
    expect(await decodeParts(wrong)).toEqual([
      `post ${ROOT}`,
      `error ApiError: Multipart part "post.${OTHER}": its length is 10, but no boundary follows there`,
    ]);
    const attachment = {
      name: `attachment.${ROOT}.a`,
      body: "12345",
      contentType: "x/y",
      length: 3,
    };
    expect(await decodeParts([run("post", OTHER), run("post", ROOT), attachment])).toEqual([
      `post ${OTHER}`,
      `error ApiError: Multipart part "attachment.${ROOT}.a": its length is 3, but no boundary follows there`,
    ]);
  });

  test("refuses another content type", async ({ expect }) => {
    const items = decodeMultipartRuns(inChunks(utf8("{}"), []), "application/json", LIMITS);
    expect(await rejection(items.next())).toMatchObject({ code: "unsupported_media_type" });
  });

  test("closes its input when the reader stops", async ({ expect }) => {
    let closed = false;
    async function* source(): AsyncGenerator<Uint8Array> {
      try {
        yield writeMultipart([run("post", ROOT), run("post", OTHER)]);
      } finally {
        closed = true;
      }
    }
    for await (const item of decodeMultipartRuns(source(), TYPE, LIMITS)) {
      expect(item.type).toBe("write");
      break;
    }
    expect(closed).toBe(true);
  });

  test("gives the same result however the body is split", async ({ expect }) => {
    const part = fc.constantFrom(
      run("post", ROOT),
      run("post", OTHER),
      run("patch", ROOT),
      field("post", ROOT, "inputs", '{"a":1}'),
      field("post", OTHER, "outputs", '"é😀"'),
      field("patch", ROOT, "error", '"x"'),
      field("patch", ROOT, "events", "{"),
      { name: `attachment.${ROOT}.a`, body: "\r\n--B7\r\n", contentType: "x/y" },
      { name: `feedback.${OTHER}`, body: "{}" },
    );
    const sizes = fc.array(fc.integer({ min: 1, max: 100 }), { maxLength: 300 });
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 12 }), sizes, async (parts, sizes) => {
        const body = writeMultipart(parts);
        expect(await decode(body, sizes)).toEqual(await decode(body));
      }),
    );
  });

  test("has every run's last text in exactly one write, in any order", async ({ expect }) => {
    const names = ["inputs", "outputs", "serialized"];
    const ids = [ROOT, OTHER];
    const fields = ids.flatMap((id) =>
      names.map((name) => field("post", id, name, JSON.stringify(`${id} ${name}`))),
    );
    const parts = [...ids.map((id) => run("post", id)), ...fields];
    await fc.assert(
      fc.asyncProperty(
        fc.shuffledSubarray(parts, { minLength: parts.length }),
        async (shuffled) => {
          const items = await decodeParts(shuffled);
          const texts = items.flatMap((item) => item.match(/\w+="[^"]*"/g) ?? []);
          expect(texts.toSorted()).toEqual(
            [ROOT, OTHER]
              .flatMap((id) => names.map((name) => `${name}="${id} ${name}"`))
              .toSorted(),
          );
        },
      ),
    );
  });
});
