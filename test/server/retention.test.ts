import { describe, vi } from "vitest";
import { collect } from "../support/run-events.ts";
import { testWithServer } from "../support/server.ts";

const test = testWithServer({ RESUMABLE_STREAM_TTL_SECONDS: "8" });

describe("after the retention of streams", () => {
  test("events are deleted and the result is kept", async ({ client, expect }) => {
    const { thread_id } = await client.threads.create();
    const { run_id } = await client.runs.create(thread_id, "branching", {
      input: {},
      streamResumable: true,
    });
    const replay = () => collect(client.runs.joinStream(thread_id, run_id, { lastEventId: "-1" }));
    const values = await client.runs.join(thread_id, run_id);
    expect(await replay()).toHaveLength(4);
    await vi.waitFor(async () => expect(await replay()).toEqual([]), { timeout: 150_000 });
    expect(await client.runs.join(thread_id, run_id)).toEqual(values);
    expect((await client.runs.get(thread_id, run_id)).status).toBe("success");
  });

  test("a resumable stateless run is deleted as a whole", async ({ client, expect }) => {
    const { run_id } = await client.runs.create(null, "branching", {
      input: {},
      streamResumable: true,
    });
    const replay = () => collect(client.runs.joinStream(null, run_id, { lastEventId: "-1" }));
    expect(await replay()).toHaveLength(4);
    await vi.waitFor(() => expect(replay()).rejects.toThrow("HTTP 404"), { timeout: 150_000 });
  });
});
