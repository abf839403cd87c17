import type { Client } from "@langchain/langgraph-sdk";
import { describe, vi } from "vitest";
import { send } from "../support/http.ts";
import { testInWorkspace } from "../support/shared-server.ts";
import { MISSING_ID } from "../support/uuid.ts";

const test = testInWorkspace();

type Part = { id?: string; event: string; data: Record<string, unknown> };

/** Follows the thread until `count` of its runs have ended. Calls `onPart` with each part. */
async function follow(
  client: Client,
  threadId: string,
  runs: number,
  options: Parameters<Client["threads"]["joinStream"]>[1],
  onPart: (part: Part) => void = () => {},
): Promise<Part[]> {
  const leaving = new AbortController();
  const parts: Part[] = [];
  let ended = 0;
  const stream = client.threads.joinStream(threadId, { ...options, signal: leaving.signal });
  for await (const part of stream as AsyncIterable<Part>) {
    parts.push(part);
    onPart(part);
    if (part.data["status"] === "run_done") ended += 1;
    if (ended === runs) break;
  }
  leaving.abort();
  return parts;
}

describe("the stream of a thread", () => {
  test("covers its stored runs and its new ones", async ({ client, expect }) => {
    const { thread_id } = await client.threads.create();
    const kept = await client.runs.create(thread_id, "branching", {
      input: {},
      streamResumable: true,
    });
    await client.runs.join(thread_id, kept.run_id);
    // A run that is neither followed nor resumable is not stored, so the test follows before it creates the runs
    // below.
    const { promise: follows, resolve } = Promise.withResolvers<Part>();
    const following = follow(client, thread_id, 3, { lastEventId: "-" }, resolve);
    await Promise.race([follows, following]);
    const runs = [kept.run_id];
    for (const streamMode of ["updates", "values"] as const) {
      const run = await client.runs.create(thread_id, "branching", { input: {}, streamMode });
      await client.runs.join(thread_id, run.run_id);
      runs.push(run.run_id);
    }
    const parts = await following;
    const lives = parts.filter(({ event }) => event === "metadata");
    expect(lives.map(({ data }) => data["run_id"])).toEqual(runs.flatMap((id) => [id, id]));
    expect(new Set(parts.map(({ id }) => id)).size).toBe(parts.length);
    const place = parts[4]?.id ?? "";
    expect(await follow(client, thread_id, 2, { lastEventId: place })).toEqual(parts.slice(5));
    const lifecycle = { lastEventId: "-", streamMode: "lifecycle" } as const;
    expect(await follow(client, thread_id, 3, lifecycle)).toEqual(lives);
  });

  test("is a 404 without a thread, and has no other modes", async ({ server, expect }) => {
    expect((await send(server, "GET", `/threads/${MISSING_ID}/stream`)).status).toBe(404);
    const path = `/threads/${MISSING_ID}/stream?stream_mode=values`;
    expect(await send(server, "GET", path)).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["query", "stream_mode"], type: "enum" }] },
    });
  });
});

describe("a run", () => {
  test("ends with working links for the feedback that it requested", async ({
    server,
    client,
    expect,
  }) => {
    const { thread_id } = await client.threads.create();
    const payload = { input: {}, feedbackKeys: ["quality", "speed"] };
    const parts: Part[] = [];
    for await (const part of client.runs.stream(thread_id, "branching", payload)) {
      parts.push(part as Part);
    }
    const last = parts.at(-1);
    expect([last?.event, Object.keys(last?.data ?? {})]).toEqual([
      "feedback",
      payload.feedbackKeys,
    ]);
    const { pathname } = new URL(String(last?.data["quality"]));
    expect((await send(server, "GET", `${pathname}?score=1`)).status).toBe(200);
    const [run] = await client.runs.list(thread_id);
    const given = await send(server, "GET", `/api/v1/feedback?run=${run?.run_id}`);
    expect(given.body).toMatchObject([{ key: "quality", score: 1 }]);
  });

  test("shows its links before its error if it fails", async ({ client, expect }) => {
    const names: string[] = [];
    const payload = { input: {}, feedbackKeys: ["quality"] };
    for await (const { event } of client.runs.stream(null, "throws", payload)) names.push(event);
    expect(names.slice(-2)).toEqual(["feedback", "error"]);
  });

  test("fails if it takes longer than its config allows", async ({ client, expect }) => {
    const { thread_id } = await client.threads.create();
    const config = { timeout: 300 } as object;
    await expect(client.runs.wait(thread_id, "forever", { input: {}, config })).rejects.toThrow(
      "TimeoutError: The run took longer than its timeout of 300 ms",
    );
    expect((await client.threads.get(thread_id)).status).toBe("error");
  });

  test("is traced to the project that it requests", async ({ server, client, expect }) => {
    const { thread_id } = await client.threads.create();
    const example_id = crypto.randomUUID();
    const langsmith_tracer = { project_name: "chosen by the run", example_id };
    const body = { assistant_id: "configurable", input: {}, langsmith_tracer };
    const made = await send(server, "POST", `/threads/${thread_id}/runs`, body);
    const { run_id } = made.body as { run_id: string };
    await client.runs.join(thread_id, run_id);
    await vi.waitFor(
      async () => {
        const run = await send(server, "GET", `/api/v1/runs/${run_id}`);
        expect(run).toMatchObject({ status: 200, body: { reference_example_id: example_id } });
        const projects = await send(server, "GET", "/api/v1/sessions?name=chosen%20by%20the%20run");
        const { session_id } = run.body as { session_id: string };
        expect(projects.body).toMatchObject([{ id: session_id }]);
      },
      { timeout: 150_000, interval: 100 },
    );
  });
});
