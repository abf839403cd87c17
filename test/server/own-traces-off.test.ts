import { describe } from "vitest";
import { testWithServer } from "../support/server.ts";
import { tracingWorkspace } from "../support/tracing.ts";

const test = testWithServer({ AGENT_AUTH: "api-key", RECORD_TRACES: "off" });

describe("with RECORD_TRACES=off", () => {
  test("a run leaves no trace, and no project", async ({ server, expect }) => {
    const { client: tracing, apiKey } = await tracingWorkspace(server, "off");
    const agents = server.client({ apiKey });
    const thread = await agents.threads.create();
    const input = { messages: [{ role: "user", content: "hello" }] };
    const values = await agents.runs.wait(thread.thread_id, "agent", { input });
    expect(values).toHaveProperty("messages");
    // The second run is long enough for a trace of the first one to have been recorded.
    const slow = { steps: 3, delay_ms: 300, label: "x" };
    await agents.runs.wait(thread.thread_id, "slow", { input: slow });
    expect(await tracing.hasProject({ projectName: "default" })).toBe(false);
  });
});
