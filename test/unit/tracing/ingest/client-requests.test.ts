import { Client, RunTree } from "langsmith";
import { describe, test } from "vitest";
import { decodeBatch } from "../../../../src/tracing/ingest/decode/batch-body.ts";
import { decodeMultipartRuns } from "../../../../src/tracing/ingest/decode/multipart-runs.ts";
import {
  collectRequestBody,
  readRequestBody,
} from "../../../../src/tracing/ingest/decode/request-body.ts";
import type { RunWrite } from "../../../../src/tracing/model/run-write.ts";
import { concat, textOf } from "./support/bytes.ts";

const LIMITS = { maxBytes: 50_000_000, maxParts: 1000, maxPartBytes: 20_000_000 };

type Received = {
  writes: RunWrite[];
  attachments: Record<string, string>;
  encodings: (string | null)[];
  paths: string[];
};

/** Connects the official client to a server that decodes its requests. */
function connect(info: object): { client: Client; received: Received } {
  const received: Received = { writes: [], attachments: {}, encodings: [], paths: [] };
  const client = new Client({
    apiUrl: "http://localhost:1",
    apiKey: "key",
    autoBatchTracing: true,
    blockOnRootRunFinalization: false,
    fetchImplementation: async (input, init) => {
      const request = new Request(input instanceof URL ? input.href : input, init);
      const { pathname } = new URL(request.url);
      if (pathname === "/info") return Response.json({ version: "1.0.0", ...info });
      received.paths.push(pathname);
      received.encodings.push(request.headers.get("content-encoding"));
      if (pathname === "/runs/batch") {
        const { writes, failures } = decodeBatch(await collectRequestBody(request, LIMITS));
        if (failures.length > 0) throw new Error(JSON.stringify(failures));
        received.writes.push(...writes);
      } else {
        await readMultipart(request, received);
      }
      return Response.json({}, { status: 202 });
    },
  });
  return { client, received };
}

async function readMultipart(request: Request, received: Received): Promise<void> {
  const type = request.headers.get("content-type");
  for await (const item of decodeMultipartRuns(readRequestBody(request, LIMITS), type, LIMITS)) {
    if (item.type === "write") received.writes.push(item.write);
    else if (item.type === "attachment") {
      received.attachments[`${item.runId} ${item.name} ${item.mimeType} ${item.length}`] = textOf(
        await concat(item.stream),
      );
    } else throw new Error(JSON.stringify(item));
  }
}

const TEXT = "é😀 ".repeat(50_000);

/** Sends a root with one child that fails and has an attachment. */
async function trace(client: Client): Promise<{ root: RunTree; child: RunTree }> {
  const root = new RunTree({
    name: "agent",
    run_type: "chain",
    project_name: "demo",
    inputs: { messages: [{ role: "user", content: TEXT }] },
    tags: ["a"],
    metadata: { thread_id: "t1" },
    client,
  });
  await root.postRun();
  const child = root.createChild({
    name: "model",
    run_type: "llm",
    inputs: { q: 1 },
    attachments: { notes: { mimeType: "text/plain", data: new TextEncoder().encode("--note--") } },
  });
  await child.postRun();
  await child.end(undefined, "broken");
  await child.patchRun();
  await root.end({ answer: 42 });
  await root.patchRun();
  await client.awaitPendingTraceBatches();
  return { root, child };
}

/** Merges all writes of a run. */
function merged(writes: readonly RunWrite[], id: string): Partial<RunWrite> {
  const all: Partial<RunWrite> = { payloads: {}, facts: {} };
  for (const { payloads, facts, ...write } of writes) {
    if (write.id !== id) continue;
    Object.assign(all, write);
    Object.assign(all.payloads ?? {}, payloads);
    Object.assign(all.facts ?? {}, facts);
  }
  return all;
}

describe("requests of the official client", () => {
  test.for([
    [
      "multipart",
      { batch_ingest_config: { use_multipart_endpoint: true } },
      "/runs/multipart",
      null,
    ],
    [
      "compressed multipart",
      {
        batch_ingest_config: { use_multipart_endpoint: true },
        instance_flags: { gzip_body_enabled: true },
      },
      "/runs/multipart",
      "gzip",
    ],
    ["batch", { batch_ingest_config: { use_multipart_endpoint: false } }, "/runs/batch", null],
  ] as const)("are decoded: %s", async ([, info, path, encoding], { expect }) => {
    const { client, received } = connect(info);
    const { root, child } = await trace(client);
    expect(new Set(received.paths)).toEqual(new Set([path]));
    expect(new Set(received.encodings)).toEqual(new Set([encoding]));

    const rootWrite = merged(received.writes, root.id);
    expect(rootWrite).toMatchObject({
      identity: { traceId: root.id, parentRunId: null, dottedOrder: root.dotted_order },
      project: { name: "demo" },
      name: "agent",
      runType: "chain",
      tags: ["a"],
      payloads: {
        inputs: { json: JSON.stringify({ messages: [{ role: "user", content: TEXT }] }) },
        outputs: { json: '{"answer":42}' },
      },
      facts: { inputsPreview: TEXT.slice(0, 300) },
    });
    expect(Math.floor((rootWrite.startTime ?? 0) / 1000)).toBe(root.start_time);
    expect(rootWrite.endTime).toBeGreaterThanOrEqual(rootWrite.startTime ?? Number.NaN);

    expect(merged(received.writes, child.id)).toMatchObject({
      identity: { traceId: root.id, parentRunId: root.id, dottedOrder: child.dotted_order },
      runType: "llm",
      payloads: { inputs: { json: '{"q":1}' }, error: { json: '"broken"' } },
    });
    expect(received.attachments).toEqual(
      path === "/runs/batch" ? {} : { [`${child.id} notes text/plain 8`]: "--note--" },
    );
  });
});
