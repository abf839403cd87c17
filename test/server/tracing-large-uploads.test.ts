import { request } from "node:http";
import { createGzip, createZstdCompress, gzipSync, zstdCompressSync } from "node:zlib";
import { buffer } from "node:stream/consumers";
import { Readable } from "node:stream";
import { describe } from "vitest";
import {
  ACCEPTED,
  brokenOff,
  fieldPart,
  ingestWorkspace,
  type IngestWorkspace,
  refused,
  runPart,
  threeRuns,
} from "../support/ingest.ts";
import { multipartBody, type Part } from "../support/multipart.ts";
import { peakMemory } from "../support/process-memory.ts";
import { testWithServer, type TestServer } from "../support/server.ts";
import { runData } from "../support/trace-data.ts";

const test = testWithServer().extend("workspace", { scope: "file" }, ({ server }) =>
  ingestWorkspace(server, "large uploads"),
);

const MB = 1024 * 1024;

describe("a large upload", () => {
  test("is accepted up to 32 MiB for one document", async ({ workspace, expect }) => {
    const text = "0123456789".repeat(MB);
    const [batched, sent] = [runData("x", { inputs: { text } }), runData("x")];
    expect(await workspace.batch({ post: [batched] })).toEqual(ACCEPTED);
    const inputs = fieldPart(sent, "inputs", JSON.stringify({ text }));
    expect(await workspace.multipart([runPart(sent), inputs])).toEqual(ACCEPTED);
    for (const { id } of [batched, sent]) {
      const read = await workspace.client.readRun(id);
      expect(read.inputs["text"] === text).toBe(true);
    }
    const tooLarge = JSON.stringify({ text: text.repeat(4) });
    const { runs, parts } = threeRuns();
    const [a, b, c] = runs;
    parts.splice(2, 0, fieldPart(b, "inputs", tooLarge));
    const field = `post.${b.id}.inputs`;
    const message = `${field}: is larger than 33554432 bytes`;
    expect(await workspace.multipart(parts)).toEqual(
      refused(2, [{ run_id: b.id, field, message }]),
    );
    expect(await workspace.stored(runs)).toEqual([a.id, c.id]);
    for (const path of ["/runs", "/runs/batch"]) {
      expect(await workspace.post(path, tooLarge)).toEqual({
        status: 413,
        body: { detail: "Request body is larger than 33554432 bytes" },
      });
    }
  });

  test("is answered while it is still being sent", async ({ workspace, expect }) => {
    const chunk = new Uint8Array(MB).fill(32);
    const spaces = () =>
      new ReadableStream<Uint8Array>({
        start: (controller) => {
          for (let index = 0; index < 40; index += 1) controller.enqueue(chunk);
          controller.close();
        },
      });
    const type = { "content-type": "multipart/form-data; boundary=b" };
    for (let round = 0; round < 6; round += 1) {
      for (const path of ["/runs/batch", "/runs/query"]) {
        expect(await workspace.post(path, spaces())).toEqual({
          status: 413,
          body: { detail: "Request body is larger than 33554432 bytes" },
        });
      }
      const broken = new Blob([`--b!\r\n`, new Uint8Array(40 * MB)]).stream();
      expect(await workspace.post("/runs/multipart", broken, type)).toMatchObject({ status: 400 });
    }
  });

  test("can have several large fields of a run", async ({ workspace, expect }) => {
    const run = runData("x");
    const text = "0123456789".repeat(MB / 2);
    const parts = ["inputs", "outputs", "error", "extra"].map((field) => {
      if (field === "extra") return fieldPart(run, field, '{"metadata":{"a":1}}');
      return fieldPart(run, field, JSON.stringify(field === "error" ? text : { [field]: text }));
    });
    const next = runData("x");
    expect(await workspace.multipart([runPart(run), ...parts, runPart(next)])).toEqual(ACCEPTED);
    const { name, status, inputs, outputs, error, extra } = await workspace.client.readRun(run.id);
    expect([name, status, extra]).toEqual(["a run", "error", { metadata: { a: 1 } }]);
    expect(inputs["inputs"] === text && outputs?.["outputs"] === text && error === text).toBe(true);
    expect(await workspace.stored([run, next])).toEqual([run.id, next.id]);
  });

  test("ends at the maximum number of parts", async ({ workspace, expect }) => {
    const [first, late] = [runData("x"), runData("x")];
    const others = Array.from({ length: 99_999 }, (): Part => ({ name: "x", body: "" }));
    const { status, body } = await workspace.multipart([runPart(first), ...others, runPart(late)]);
    expect(status).toBe(413);
    expect(body).toMatchObject({
      // The other parts are of an unknown kind, and ignored.
      detail: "Multipart body has more than 100000 parts",
      failed: 1,
      accepted: 1,
    });
    expect(await workspace.stored([first, late])).toEqual([first.id]);
  });
});

const ENCODERS = [
  ["gzip", gzipSync, createGzip],
  ["zstd", zstdCompressSync, createZstdCompress],
] as const;

describe("a compressed request", () => {
  test.for(ENCODERS)(
    "keeps the runs before the end if its %s is cut off",
    async ([encoding, encode], { workspace, expect }) => {
      const { runs, parts } = threeRuns();
      const random = Buffer.from(crypto.getRandomValues(new Uint8Array(60_000))).toString("base64");
      const [a, b] = runs;
      parts.splice(2, 0, fieldPart(b, "inputs", JSON.stringify(random)));
      const { body, contentType } = multipartBody(parts);
      const cut = Buffer.from(encode(body).subarray(0, 40_000));
      const answer = await workspace.post("/runs/multipart", cut, {
        "content-type": contentType,
        "content-encoding": encoding,
      });
      expect(answer).toMatchObject({
        status: 400,
        body: {
          detail: expect.stringMatching(`^Request body is not valid ${encoding}: `),
          failed: 1,
        },
      });
      expect((await workspace.stored(runs)).filter((id) => id !== a.id)).toEqual([]);
    },
  );

  test.for(["gzip", "zstd"])(
    "is refused if it is not valid %s",
    async (encoding, { workspace, expect }) => {
      const headers = {
        "content-encoding": encoding,
        "content-type": "multipart/form-data; boundary=b",
      };
      for (const path of ["/runs", "/runs/batch", "/runs/multipart"]) {
        expect(await workspace.post(path, "hello", headers)).toMatchObject({
          status: 400,
          body: { detail: expect.stringMatching(`^Request body is not valid ${encoding}: `) },
        });
      }
    },
  );

  test.for(["br", "deflate", "gzip, zstd", "aws-chunked"])(
    "is refused if it is in %s",
    async (encoding, { workspace, expect }) => {
      const headers = {
        "content-encoding": encoding,
        "content-type": "multipart/form-data; boundary=b",
      };
      for (const path of ["/runs", "/runs/batch", "/runs/multipart"]) {
        expect(await workspace.post(path, "{}", headers)).toEqual({
          status: 415,
          body: {
            detail: `Content-Encoding "${encoding}" is not supported; send identity, gzip or zstd`,
          },
        });
      }
    },
  );

  test.for(ENCODERS)(
    "does no harm if its %s unfolds to 1 GiB",
    async ([encoding, , create], { workspace, expect }) => {
      const [first, bomb] = [runData("x"), runData("x")];
      const parts = [runPart(first), runPart(bomb), fieldPart(bomb, "inputs", '"')];
      const { body, contentType } = multipartBody(parts);
      const text = body.toString("latin1").replace(/(?<=Length: )1(?=\r)/, String(1024 * MB));
      const zeros = Buffer.alloc(MB, "0");
      const unfolded = (function* () {
        yield Buffer.from(text.slice(0, text.lastIndexOf("\r\n--")));
        for (let index = 0; index < 1024; index += 1) yield zeros;
      })();
      const small = await buffer(Readable.from(unfolded).pipe(create()));
      expect(small.byteLength).toBeLessThan(2 * MB);
      const headers = { "content-type": contentType, "content-encoding": encoding };
      const tooLarge = (max: number) => `Request body is larger than ${max} bytes`;
      const field = `post.${bomb.id}.inputs`;
      const message = `${field}: is larger than ${32 * MB} bytes`;
      const grown = await peakMemory(async () => {
        expect(await workspace.post("/runs/multipart", small, headers)).toEqual(
          refused(1, [brokenOff(tooLarge(256 * MB)), { run_id: bomb.id, field, message }], 413),
        );
        for (const path of ["/runs", "/runs/batch"]) {
          expect(await workspace.post(path, small, headers)).toEqual({
            status: 413,
            body: { detail: tooLarge(32 * MB) },
          });
        }
      });
      expect(grown).toBeLessThan(150 * MB);
      expect(await workspace.stored([first, bomb])).toEqual([first.id]);
    },
  );
});

describe("an aborted upload", () => {
  /** Sends the first bytes of a body and disconnects. */
  function breakOff(
    server: TestServer,
    { apiKey }: IngestWorkspace,
    path: string,
    headers: Record<string, string>,
    head: Uint8Array,
  ): Promise<void> {
    return new Promise((resolve) => {
      const upload = request(new URL(`/api/v1${path}`, server.url), {
        method: "POST",
        headers: { "x-api-key": apiKey, ...headers },
      });
      upload.on("error", () => undefined).on("close", resolve);
      upload.write(head, () => setTimeout(() => upload.destroy(), 100));
    });
  }

  test("is stored once when it is repeated", async ({ server, workspace, expect }) => {
    const runs = Array.from({ length: 1500 }, () => runData("broken off"));
    const parts = runs.flatMap((run) => [runPart(run), fieldPart(run, "inputs", '{"a":1}')]);
    const { body, contentType } = multipartBody(parts);
    const headers = { "content-type": contentType };
    const half = body.subarray(0, body.byteLength / 2);
    await breakOff(server, workspace, "/runs/multipart", headers, half);
    const length = { ...headers, "content-length": String(body.byteLength) };
    await breakOff(server, workspace, "/runs/multipart", length, half);
    const zipped = gzipSync(body);
    await breakOff(
      server,
      workspace,
      "/runs/multipart",
      { ...headers, "content-encoding": "gzip" },
      zipped.subarray(0, zipped.byteLength / 2),
    );
    await breakOff(server, workspace, "/runs/batch", {}, Buffer.from('{"post":[{"id":"'));
    expect(await workspace.post("/runs/multipart", body, headers)).toEqual(ACCEPTED);
    expect(await workspace.client.getRunStats({ projectNames: ["broken off"] })).toMatchObject({
      run_count: 1500,
    });
    const some = runs.slice(0, 100);
    expect(await workspace.stored(some)).toEqual(some.map(({ id }) => id));
  });
});
