import { describe } from "vitest";
import {
  ACCEPTED,
  ingestWorkspace,
  type IngestWorkspace,
  refused,
  runPart,
} from "../support/ingest.ts";
import type { Part } from "../support/multipart.ts";
import { testWithServer, type WorkerServer } from "../support/server.ts";
import { runData } from "../support/trace-data.ts";
import { MISSING_ID } from "../support/uuid.ts";

const MB = 1024 * 1024;

const test = testWithServer({ MAX_INGEST_BYTES: String(64 * MB) }).extend(
  "workspace",
  { scope: "file" },
  ({ server }) => ingestWorkspace(server, "attachments"),
);

function attachment(run: { id: string }, name: string, body: string | Uint8Array): Part {
  return { name: `attachment.${run.id}.${name}`, body, contentType: "text/plain" };
}

/** Reads the attachments behind the links in the run, by name. */
async function readAttachments({ client }: IngestWorkspace, runId: string) {
  const { s3_urls } = (await client.readRun(runId)) as {
    s3_urls?: Record<string, { presigned_url: string; mime_type: string }> | null;
  };
  const read: Record<string, [type: string, text: string]> = {};
  for (const [name, { presigned_url, mime_type }] of Object.entries(s3_urls ?? {})) {
    const response = await fetch(presigned_url);
    if (response.status !== 200) throw new Error(`${name}: ${response.status}`);
    read[name] = [mime_type, await response.text()];
  }
  return read;
}

/** Returns the number of stored attachments of the run, whether or not the run lists them. */
async function countObjects({ bindings }: WorkerServer, workspaceId: string, runId: string) {
  const { PAYLOADS } = (await bindings()) as {
    PAYLOADS: { list: (options: { prefix: string }) => Promise<{ objects: unknown[] }> };
  };
  const { objects } = await PAYLOADS.list({ prefix: `${workspaceId}/attachments/${runId}/` });
  return objects.length;
}

describe("attachments", () => {
  test("may be sent before, with and after their run, and without a length", async ({
    workspace,
    expect,
  }) => {
    const [run, other] = [runData("files"), runData("files")];
    const large = "0123456789".repeat(MB);
    const parts: Part[] = [
      attachment(run, "before", "1"),
      runPart(run),
      attachment(run, "empty", ""),
      { ...attachment(run, "unmeasured", "--4--\r\n"), lengthIn: "nowhere" },
      { ...attachment(run, "by type", "5"), lengthIn: "content-type" },
      { ...attachment(run, "typed", "{}"), contentType: "application/json; charset=utf-8" },
      { ...attachment(run, "untyped", "6"), contentType: "" },
      runPart(other),
      attachment(run, "after", large),
      attachment(run, "größe ü", "8"),
    ];
    expect(await workspace.multipart(parts)).toEqual(ACCEPTED);
    expect(await readAttachments(workspace, run.id)).toEqual({
      "attachment.before": ["text/plain", "1"],
      "attachment.empty": ["text/plain", ""],
      "attachment.unmeasured": ["text/plain", "--4--\r\n"],
      "attachment.by type": ["text/plain", "5"],
      "attachment.typed": ["application/json; charset=utf-8", "{}"],
      "attachment.untyped": ["application/octet-stream", "6"],
      "attachment.after": ["text/plain", large],
      "attachment.größe ü": ["text/plain", "8"],
    });
    expect(await readAttachments(workspace, other.id)).toEqual({});
  });

  test("of a later request are added, and those of an update take precedence", async ({
    server,
    workspace,
    expect,
  }) => {
    const run = runData("files");
    const post = [runPart(run), attachment(run, "a", "first"), attachment(run, "b", "kept")];
    const patch = [runPart(run, "patch"), attachment(run, "a", "second")];
    expect(await workspace.multipart(post)).toEqual(ACCEPTED);
    expect(await workspace.multipart(patch)).toEqual(ACCEPTED);
    expect(await workspace.multipart([attachment(run, "c", "alone")])).toEqual(ACCEPTED);
    expect(await workspace.multipart(post)).toEqual(ACCEPTED);
    expect(await readAttachments(workspace, run.id)).toEqual({
      "attachment.a": ["text/plain", "second"],
      "attachment.b": ["text/plain", "kept"],
      "attachment.c": ["text/plain", "alone"],
    });
    await expect.poll(() => countObjects(server, workspace.id, run.id)).toBe(3);
  });

  test("stay when only an update of their run is refused", async ({ workspace, expect }) => {
    const run = runData("files");
    const parts = [
      runPart(run),
      attachment(run, "with", "1"),
      runPart({ ...run, end_time: "never" }, "patch"),
      runPart(runData("files")),
      attachment(run, "after", "2"),
    ];
    expect(await workspace.multipart(parts)).toMatchObject({ status: 422, body: { failed: 1 } });
    expect(await readAttachments(workspace, run.id)).toEqual({
      "attachment.with": ["text/plain", "1"],
      "attachment.after": ["text/plain", "2"],
    });
  });

  test("of refused runs are not stored", async ({ server, workspace, expect }) => {
    const [bad, homeless] = [runData("files"), runData("files")];
    const answer = await workspace.multipart([
      runPart({ ...bad, run_type: "agent" }),
      attachment(bad, "a", "1"),
      runPart({ ...homeless, session_id: MISSING_ID }),
      attachment(homeless, "a", "2"),
      attachment({ id: MISSING_ID }, "a", "3"),
    ]);
    const field = `post.${bad.id}.run_type`;
    expect(answer).toMatchObject({ status: 422, body: { failed: 3, accepted: 0 } });
    expect((answer.body as { errors: unknown[] }).errors).toEqual([
      { run_id: bad.id, field, message: expect.stringMatching(field) },
      { run_id: MISSING_ID, field: "id", message: `Run ${MISSING_ID} not found` },
      {
        run_id: homeless.id,
        field: "session_id",
        message: `session_id: project ${MISSING_ID} not found`,
      },
    ]);
    for (const id of [bad.id, homeless.id, MISSING_ID]) {
      expect(await countObjects(server, workspace.id, id)).toBe(0);
    }
  });

  test.for([
    [
      "is longer than its declared length",
      (body: string) => body.replace("Content-Length: 5\r", "Content-Length: 4\r"),
      "its length is 4, but no boundary follows there",
    ],
    [
      "is shorter than its declared length",
      (body: string) => body.replace("Content-Length: 5\r", "Content-Length: 6\r"),
      "its length is 6, but no boundary follows there",
    ],
    [
      "is much shorter than its declared length",
      (body: string) => body.replace("Content-Length: 5\r", "Content-Length: 50000\r"),
      "the request body ends before the boundary that follows it",
    ],
    [
      "without a length is cut off",
      (body: string) => body.replace("Content-Length: 5\r\n", "").slice(0, body.indexOf("hello")),
      "the request body ends before the boundary that follows it",
    ],
  ] as const)(
    "end the request if one %s",
    async ([, change, reason], { server, workspace, expect }) => {
      const [before, run, after] = [runData("files"), runData("files"), runData("files")];
      const parts = [runPart(before), runPart(run), attachment(run, "a", "hello"), runPart(after)];
      const message = `Multipart part "attachment.${run.id}.a": ${reason}`;
      expect(await workspace.multipart(parts, change)).toEqual(
        refused(1, [{ run_id: null, field: "body", message }], 400),
      );
      expect(await workspace.stored([before, run, after])).toEqual([before.id]);
      expect(await countObjects(server, workspace.id, run.id)).toBe(0);
      expect(await workspace.multipart(parts)).toEqual(ACCEPTED);
      expect(await readAttachments(workspace, run.id)).toEqual({
        "attachment.a": ["text/plain", "hello"],
      });
    },
  );

  test("that are too large are omitted", async ({ workspace, expect }) => {
    const run = runData("files");
    const parts: Part[] = [
      runPart(run),
      { ...attachment(run, "unmeasured", new Uint8Array(33 * MB)), lengthIn: "nowhere" },
      attachment(run, "small", "1"),
    ];
    const field = `attachment.${run.id}.unmeasured`;
    const message = `${field}: without a length, it should be no larger than 33554432 bytes`;
    expect(await workspace.multipart(parts)).toEqual(
      refused(1, [{ run_id: run.id, field, message }]),
    );
    expect(Object.keys(await readAttachments(workspace, run.id))).toEqual(["attachment.small"]);

    const other = runData("files");
    const huge = [runPart(other), attachment(other, "a", "hello")];
    const answer = await workspace.multipart(huge, (body) =>
      body.replace("Content-Length: 5\r", "Content-Length: 9007199254740991\r"),
    );
    const name = `attachment.${other.id}.a`;
    const cutOff = `Multipart body is cut off: it ends before its final boundary, within part "${name}"`;
    const reason = `${name}: should be no larger than 67108864 bytes`;
    expect(answer).toEqual(
      refused(
        1,
        [
          { run_id: null, field: "body", message: cutOff },
          { run_id: other.id, field: name, message: reason },
        ],
        400,
      ),
    );
  });

  test("are limited to 400 for a run", async ({ workspace, expect }) => {
    const run = runData("files");
    const name = "n".repeat(990);
    const many = Array.from({ length: 402 }, (_, index) =>
      attachment(run, `${name} ${index}`, "1"),
    );
    const { status, body } = await workspace.multipart([runPart(run), ...many]);
    const message = `attachment.${run.id}.${name} 400: a run should have at most 400 attachments`;
    expect([status, body]).toMatchObject([
      422,
      { detail: `${message} (and 1 more)`, failed: 2, accepted: 1 },
    ]);
    expect(Object.keys(await readAttachments(workspace, run.id))).toHaveLength(400);
  });

  test("are read by links that are valid for nothing else", async ({
    server,
    workspace,
    expect,
  }) => {
    const run = runData("files");
    await workspace.multipart([runPart(run), attachment(run, "page", "<script>")]);
    const { s3_urls } = (await workspace.client.readRun(run.id)) as unknown as {
      s3_urls: Record<string, { presigned_url: string }>;
    };
    const url = s3_urls["attachment.page"]?.presigned_url ?? "";
    const { headers } = await fetch(url);
    expect(headers.get("content-security-policy")).toBe("sandbox");
    expect(headers.get("content-disposition")).toBe("attachment");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    const [grant = "", signature] = url.slice(url.lastIndexOf("/") + 1).split(".");
    const decoded = Buffer.from(grant, "base64url").toString();
    const other = Buffer.from(decoded.replace(run.id, MISSING_ID)).toString("base64url");
    for (const token of [`${other}.${signature}`, `${grant}.`, grant, "x"]) {
      const response = await server.fetch(`/api/v1/attachments/${token}`);
      expect([response.status, await response.json()]).toEqual([
        403,
        { detail: "This link is not valid, or has expired" },
      ]);
    }
  });
});
