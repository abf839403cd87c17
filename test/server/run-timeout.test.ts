import { describe } from "vitest";
import { testWithServer } from "../support/server.ts";

const test = testWithServer({ RUN_TIMEOUT_SECONDS: "5" });

describe("a run that takes longer than RUN_TIMEOUT_SECONDS", () => {
  test("ends with the status timeout, and the next one runs", async ({ client, expect }) => {
    const { thread_id } = await client.threads.create();
    const { run_id } = await client.runs.create(thread_id, "forever", { input: {} });
    const next = await client.runs.create(thread_id, "env_reader", { input: {} });
    const status = async (id: string) => (await client.runs.get(thread_id, id)).status;
    await expect.poll(() => status(run_id)).toBe("timeout");
    await expect.poll(() => status(next.run_id)).toBe("success");
  });
});
