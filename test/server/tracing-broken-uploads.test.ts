import { describe } from "vitest";
import {
  ACCEPTED,
  brokenOff,
  fieldPart,
  ingestWorkspace,
  refused,
  threeRuns,
} from "../support/ingest.ts";
import type { Part } from "../support/multipart.ts";
import { testWithSharedServer } from "../support/shared-server.ts";
import { runData } from "../support/trace-data.ts";

const test = testWithSharedServer().extend("workspace", { scope: "file" }, ({ server }) =>
  ingestWorkspace(server, "broken uploads"),
);

/** A change of a request with the runs `a`, `b` and `c`, the error message, and the runs that are stored. */
const BROKEN: [what: string, change: (body: string) => string, message: string, stored: string][] =
  [
    [
      "the end of the last boundary is missing",
      (body) => body.slice(0, -4),
      "Multipart body is cut off: it ends before its final boundary",
      "abc",
    ],
    [
      "a part is cut off",
      (body) => body.slice(0, -100),
      'Multipart part "post.<c>": the request body ends before the boundary that follows it',
      "ab",
    ],
    [
      "a boundary goes on",
      (body) => edit(body, "b", "head", (part) => part.replace("\r\n", "!\r\n")),
      "A multipart boundary is followed by neither a new line nor --",
      "a",
    ],
    [
      "a part is longer than its declared length",
      (body) => edit(body, "b", "length", (length) => String(Number(length) - 1)),
      'Multipart part "post.<b>": its length is <b-1>, but no boundary follows there',
      "a",
    ],
    [
      "a part is shorter than its declared length",
      (body) => edit(body, "b", "length", (length) => String(Number(length) + 1)),
      'Multipart part "post.<b>": its length is <b+1>, but no boundary follows there',
      "a",
    ],
    [
      "a length is not a number",
      (body) => edit(body, "b", "length", () => "1e3"),
      'Multipart part "post.<b>": its length "1e3" is not a number of bytes',
      "a",
    ],
    [
      "a part has no name",
      (body) => edit(body, "b", "head", (head) => head.replace(/; name="[^"]*"/, "")),
      "A multipart part has no name in its Content-Disposition",
      "a",
    ],
    [
      "a part is not form data",
      (body) => edit(body, "b", "head", (head) => head.replace("form-data", "attachment")),
      'Multipart part "post.<b>": its Content-Disposition is "attachment", not form-data',
      "a",
    ],
    [
      "a part is compressed by itself",
      (body) => edit(body, "b", "head", (head) => `${head}Content-Encoding: gzip\r\n`),
      'Multipart part "post.<b>": Content-Encoding is not allowed on a part, only on the whole request',
      "a",
    ],
    [
      "a header has no colon",
      (body) => edit(body, "b", "head", (head) => `${head}hello\r\n`),
      'Multipart header line without a name: "hello"',
      "a",
    ],
    [
      "headers are long",
      (body) => edit(body, "b", "head", (head) => `${head}x: ${"y".repeat(16_384)}\r\n`),
      "The headers of a multipart part are larger than 16384 bytes",
      "a",
    ],
  ];

/** Changes the headers of the run's part, or the length in them. */
function edit(
  body: string,
  run: "a" | "b" | "c",
  what: "head" | "length",
  change: (text: string) => string,
): string {
  const boundary = body.slice(0, body.indexOf("\r\n"));
  const parts = body.split(boundary);
  const index = 1 + "abc".indexOf(run);
  const part = parts[index] ?? "";
  const end = part.indexOf("\r\n\r\n") + 2;
  const head = part.slice(0, end);
  const changed =
    what === "head"
      ? change(head)
      : head.replace(/(?<=Content-Length: )\d+/, (length) => change(length));
  parts[index] = changed + part.slice(end);
  return parts.join(boundary);
}

describe("a multipart request", () => {
  test.for(BROKEN)(
    "keeps the runs before the error if %s",
    async ([, change, template, left], { workspace, expect }) => {
      const { runs, parts } = threeRuns();
      const [a, b, c] = runs;
      const length = JSON.stringify(b).length;
      const message = template
        .replace("<b>", b.id)
        .replace("<c>", c.id)
        .replace("<b-1>", String(length - 1))
        .replace("<b+1>", String(length + 1));
      expect(await workspace.multipart(parts, change)).toEqual(
        refused(left.length, [brokenOff(message)], 400),
      );
      const stored = runs.slice(0, left.length).map(({ id }) => id);
      expect(await workspace.stored(runs)).toEqual(stored);
      expect(await workspace.multipart(parts)).toEqual(ACCEPTED);
      expect(await workspace.stored(runs)).toEqual([a.id, b.id, c.id]);
    },
  );

  test.for([
    [
      { "content-type": "multipart/form-data" },
      "",
      400,
      "Content-Type has no valid boundary parameter",
    ],
    [
      { "content-type": "application/json" },
      "{}",
      415,
      'Content-Type is "application/json"; send multipart/form-data',
    ],
    [
      { "content-type": "multipart/form-data; boundary=b" },
      "",
      400,
      "Request body does not contain the multipart boundary",
    ],
    [
      { "content-type": "multipart/form-data; boundary=b" },
      "no boundary at all",
      400,
      "Request body does not contain the multipart boundary",
    ],
  ] as const)(
    "is refused with %j and %j",
    async ([headers, body, status, message], { workspace, expect }) => {
      const answer = await workspace.post("/runs/multipart", body, headers);
      expect(answer).toEqual(refused(0, [brokenOff(message)], status));
    },
  );

  test("is accepted without parts", async ({ workspace, expect }) => {
    expect(await workspace.multipart([])).toEqual(ACCEPTED);
  });

  test("reports parts that are not a run, a field or feedback", async ({ workspace, expect }) => {
    const { runs, parts } = threeRuns();
    const [a, b, c] = runs;
    const bad: [name: string, runId: string | null, message: string][] = [
      ["post.x", null, '"x" is not a UUID'],
      [
        `attachment.${a.id}.a.png`,
        a.id,
        "an attachment's name should have 1 to 1000 characters, no dot and no NUL",
      ],
    ];
    const others = bad.map(([name]): Part => ({ name, body: "{}" }));
    expect(await workspace.multipart([...parts.slice(0, 1), ...others, ...parts.slice(1)])).toEqual(
      refused(
        3,
        bad.map(([field, run_id, message]) => ({ run_id, field, message: `${field}: ${message}` })),
      ),
    );
    expect(await workspace.stored(runs)).toEqual([a.id, b.id, c.id]);
  });

  test("reports fields without their run", async ({ workspace, expect }) => {
    const run = runData("x");
    const field = `post.${run.id}.inputs`;
    const message = `${field}: the part post.${run.id} that it belongs to is missing`;
    expect(await workspace.multipart([fieldPart(run, "inputs", "{}")])).toEqual(
      refused(0, [{ run_id: run.id, field, message }]),
    );
    expect(await workspace.stored([run])).toEqual([]);
  });

  test("reports a part that is named for another run", async ({ workspace, expect }) => {
    const [run, other] = [runData("x"), runData("x")];
    const field = `post.${run.id}.id`;
    const message = `${field}: ${other.id} differs from ${run.id}, under which the run was sent`;
    expect(
      await workspace.multipart([{ name: `post.${run.id}`, body: JSON.stringify(other) }]),
    ).toEqual(refused(0, [{ run_id: run.id, field, message }]));
    expect(await workspace.stored([run, other])).toEqual([]);
  });
});
