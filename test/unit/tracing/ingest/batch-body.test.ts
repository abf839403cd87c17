import fc from "fast-check";
import { describe, test } from "vitest";
import { decodeBatch } from "../../../../src/tracing/ingest/decode/batch-body.ts";
import { thrown, utf8 } from "./support/bytes.ts";
import { jsonText } from "./support/json-texts.ts";
import { CHILD, OTHER, ROOT, rootRun } from "./support/sample-runs.ts";

function decode(body: unknown): ReturnType<typeof decodeBatch> {
  return decodeBatch(utf8(typeof body === "string" ? body : JSON.stringify(body)));
}

function ids(body: unknown): string[] {
  return decode(body).writes.map(({ kind, id }) => `${kind} ${id}`);
}

describe("decodeBatch", () => {
  test("yields creates and then updates, in order", ({ expect }) => {
    const body = { patch: [rootRun(ROOT)], post: [rootRun(ROOT), rootRun(OTHER)] };
    expect(ids(body)).toEqual([`post ${ROOT}`, `post ${OTHER}`, `patch ${ROOT}`]);
    expect(decode(body).failures).toEqual([]);
  });

  test("accepts lists that are missing, null or empty", ({ expect }) => {
    for (const body of [{}, { post: null }, { post: [], patch: null }, " { } "]) {
      expect(decode(body)).toEqual({ writes: [], failures: [] });
    }
    expect(ids({ patch: [rootRun(ROOT)] })).toEqual([`patch ${ROOT}`]);
  });

  test("skips an invalid run, and keeps the others", ({ expect }) => {
    const body = {
      post: [rootRun(ROOT, { name: 1 }), rootRun(OTHER), "x", { name: "no id" }],
      patch: [rootRun(CHILD, { tags: [1] }), rootRun(OTHER)],
    };
    expect(ids(body)).toEqual([`post ${OTHER}`, `patch ${OTHER}`]);
    expect(decode(body).failures).toEqual([
      {
        runId: ROOT,
        field: "post[0].name",
        message: "post[0].name: should be a string",
        status: 422,
      },
      { runId: null, field: "post[2]", message: "post[2]: a run should be an object", status: 422 },
      { runId: null, field: "post[3].id", message: "post[3].id: is required", status: 422 },
      {
        runId: CHILD,
        field: "patch[0].tags[0]",
        message: "patch[0].tags[0]: should be a string",
        status: 422,
      },
    ]);
  });

  test("skips a run that is too deep, or has too large an integer, and keeps the others", ({
    expect,
  }) => {
    const deep = `${"[".repeat(1000)}${"]".repeat(1000)}`;
    const withInputs = (id: string, inputs: string): string =>
      `${JSON.stringify(rootRun(id)).slice(0, -1)},"inputs":${inputs}}`;
    const runs = [
      withInputs(ROOT, deep),
      withInputs(CHILD, "[99999999999999999999]"),
      withInputs(OTHER, '["99999999999999999999"]'),
    ];
    const { writes, failures } = decode(`{"post":[${runs.join(",")}]}`);
    expect(writes.map(({ id }) => id)).toEqual([OTHER]);
    expect(failures).toEqual([
      {
        runId: ROOT,
        field: "post[0]",
        message: "post[0]: is nested deeper than 500 levels",
        status: 422,
      },
      {
        runId: CHILD,
        field: "post[1]",
        message: "post[1]: has the integer 99999999999999999999, which is outside of 64 bits",
        status: 422,
      },
    ]);
  });

  test("keeps the text of payloads, whatever is around them", ({ expect }) => {
    // Null is equivalent to a missing payload.
    const payload = jsonText.filter((text) => text !== "null");
    fc.assert(
      fc.property(
        fc.array(fc.tuple(payload, payload, jsonText), { maxLength: 4 }),
        fc.boolean(),
        (runs, isPost) => {
          const items = runs.map(([inputs, outputs, noise]) => {
            const head = JSON.stringify(rootRun()).slice(0, -1);
            return `${head}, "noise": ${noise}, "inputs" :${inputs}, "outputs": ${outputs} }`;
          });
          const list = `[ ${items.join(" , ")} ]`;
          const { writes } = decode(
            isPost ? `{"post": ${list}}` : ` {"post" : null , "patch" : ${list} } `,
          );
          expect(writes.map(({ payloads }) => [payloads.inputs, payloads.outputs])).toEqual(
            runs.map(([inputs, outputs]) => [{ json: inputs }, { json: outputs }]),
          );
        },
      ),
    );
  });

  test("uses the last one of a repeated list", ({ expect }) => {
    const run = (inputs: string): string =>
      `${JSON.stringify(rootRun()).slice(0, -1)},"inputs":${inputs}}`;
    const { writes } = decode(`{"post":[${run("1.0")},${run("2.0")}],"post":[${run("3.0")}]}`);
    expect(writes.map(({ payloads }) => payloads.inputs)).toEqual([{ json: "3.0" }]);
  });

  test.for([
    ["", ["body"], "json_invalid"],
    ["{", ["body"], "json_invalid"],
    ["[]", ["body"], "dict_type"],
    ["null", ["body"], "dict_type"],
    ['{"post":{}}', ["body", "post"], "list_type"],
    ['{"patch":"x"}', ["body", "patch"], "list_type"],
  ] as const)("refuses the document %j", ([text, loc, type], { expect }) => {
    expect(thrown(() => decode(text))).toMatchObject({
      code: "validation",
      detail: [{ loc, type }],
    });
  });

  test("ignores unknown members, and lists them", ({ expect }) => {
    const noted: unknown[] = [];
    const body = { runs: [rootRun(OTHER)], post: [rootRun(), rootRun(ROOT, { colour: 1 })] };
    const { writes, failures } = decodeBatch(utf8(JSON.stringify(body)), (members) => {
      noted.push(members);
    });
    expect([writes.map(({ id }) => id), failures]).toEqual([[ROOT, ROOT], []]);
    expect(writes[1]).toEqual(writes[0]);
    expect(noted).toEqual([
      { path: [], keys: ["runs"] },
      { path: ["post", 1], keys: ["colour"] },
    ]);
  });

  test("refuses a document that is not UTF-8", ({ expect }) => {
    expect(thrown(() => decodeBatch(new Uint8Array([0x7b, 0xff, 0x7d])))).toMatchObject({
      code: "validation",
      detail: [{ loc: ["body"], msg: "the body is not UTF-8", type: "json_invalid" }],
    });
  });

  test("accepts a text of 10 MB", ({ expect }) => {
    const inputs = { text: '"\\'.repeat(3_000_000) };
    const { writes } = decode({ post: [rootRun(ROOT, { inputs }), rootRun(OTHER)] });
    expect(writes.map(({ id }) => id)).toEqual([ROOT, OTHER]);
    expect(writes[0]?.payloads.inputs).toEqual({ json: JSON.stringify(inputs) });
  });
});
