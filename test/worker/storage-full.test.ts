import { env } from "cloudflare:workers";
import { beforeAll, describe, inject, test } from "vitest";
import { createApp } from "../../src/app.ts";
import { explainStorage } from "../../src/http/storage-full.ts";
import { ReceivedAttachments } from "../../src/tracing/ingest/received-attachments.ts";
import { uploadPayloads } from "../../src/tracing/ingest/store-runs.ts";
import type { RunWrite } from "../../src/tracing/model/run-write.ts";
import { migrateIndex } from "./support.ts";

const SENTENCE =
  "The storage of this installation is full, so the request was not carried out: free some space, and send it again";

beforeAll(() => migrateIndex(inject("migrations")));

/** The platform's binding, as a local server provides it. */
function diskWith(freeBytes: number): Pick<Fetcher, "fetch"> {
  return { fetch: async () => Response.json({ free_bytes: freeBytes }) };
}

/** Returns a database in which every write fails. */
function failingWith(message: string): Partial<D1Database> {
  return {
    prepare: (sql) => env.DB.prepare(sql),
    batch: async () => {
      throw new Error(message);
    },
  };
}

async function check(bindings: object): Promise<{ status: number; body: unknown }> {
  const answer = await createApp().request("/ok?check_db=1", {}, { ...env, ...bindings });
  return { status: answer.status, body: await answer.json() };
}

describe("the check of the database", () => {
  test("writes, and leaves nothing", async ({ expect }) => {
    const count = () => env.DB.prepare("SELECT count(*) AS n FROM workspaces").first("n");
    const before = await count();
    expect(await check({ LOCAL_DISK: diskWith(1e9) })).toEqual({ status: 200, body: { ok: true } });
    expect(await count()).toBe(before);
  });

  test.for([
    ["D1_ERROR: database or disk is full: SQLITE_FULL", {}],
    ["D1_ERROR: Exceeded maximum DB size", {}],
    ["internal error; reference = km8iu3ki7cdihfon4uj01tej", { LOCAL_DISK: diskWith(0) }],
  ] as const)("reports that there is no room: %s", async ([message, bindings], { expect }) => {
    const answer = await check({ DB: failingWith(message), ...bindings });
    expect(answer).toEqual({ status: 507, body: { detail: SENTENCE } });
  });

  test("reports that there is no room if only new files cannot be created", async ({ expect }) => {
    const answer = await check({ LOCAL_DISK: diskWith(4096) });
    expect(answer).toEqual({ status: 507, body: { detail: SENTENCE } });
  });

  test("does not report any other failure as that", async ({ expect }) => {
    const DB = failingWith("internal error; reference = km8iu3ki7cdihfon4uj01tej");
    const body = { detail: "The database does not answer" };
    expect(await check({ DB })).toEqual({ status: 503, body });
    expect(await check({ DB, LOCAL_DISK: diskWith(1e9) })).toEqual({ status: 503, body });
  });
});

describe("a large payload", () => {
  const write: RunWrite = {
    kind: "post",
    id: crypto.randomUUID(),
    identity: undefined,
    project: undefined,
    payloads: { inputs: { json: JSON.stringify("x".repeat(2 * 1024 * 1024)) } },
    facts: {},
  };
  const ref = { workspaceId: crypto.randomUUID(), projectId: "p", day: 20_000, bucket: 0 };

  test("is not stored if there is no room for it, and the answer says so", async ({ expect }) => {
    const silent = { put: () => expect.unreachable() } as unknown as R2Bucket;
    const full = { PAYLOADS: silent, LOCAL_DISK: diskWith(5 * 1024 * 1024) };
    const failure = await uploadPayloads(full, ref, [write]).catch((error: unknown) => error);
    const told = await explainStorage(failure as Error, full);
    expect(told).toMatchObject({ code: "insufficient_storage", message: SENTENCE });
  });

  test("is stored if there is room", async ({ expect }) => {
    const roomy = { PAYLOADS: env.PAYLOADS, LOCAL_DISK: diskWith(7 * 1024 * 1024) };
    const [stored] = await uploadPayloads(roomy, ref, [write]);
    expect(stored?.payloads.inputs).toMatchObject({ bytes: 2 * 1024 * 1024 + 2 });
  });
});

test("an attachment is not stored if there is no room for it, with a length or without", async ({
  expect,
}) => {
  const silent = { put: () => expect.unreachable() } as unknown as R2Bucket;
  const full = { PAYLOADS: silent, LOCAL_DISK: diskWith(5 * 1024 * 1024) };
  const received = new ReceivedAttachments(full, crypto.randomUUID(), 10 * 1024 * 1024);
  for (const length of [2 * 1024 * 1024, null]) {
    const stream = new Response(new Uint8Array(2 * 1024 * 1024)).body;
    if (stream === null) throw new Error("A body of bytes is a stream");
    const attachment = { runId: "r", name: "photo", mimeType: "image/png", length, stream };
    const failure = await received.receive(attachment).catch((error: unknown) => error);
    const told = await explainStorage(failure as Error, full);
    expect(told).toMatchObject({ code: "insufficient_storage", message: SENTENCE });
  }
});
