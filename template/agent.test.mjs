import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startPlatform } from "threadworks/testing";

/** @type {Awaited<ReturnType<typeof startPlatform>>} */
let platform;
before(async () => {
  // Without a key the stand-in of agent.ts replies, with the same result on every machine.
  platform = await startPlatform({ project: ".", env: { OPENAI_API_KEY: "" } });
});
after(() => platform.stop());

await test("the agent asks its tool for the weather", async () => {
  const messages = [{ role: "user", content: "What is the weather in Oslo?" }];
  const state = await platform.client.runs.wait(null, "agent", { input: { messages } });
  const answer = state.messages.find(({ type }) => type === "tool");
  assert.equal(answer.content, "It is always sunny in Oslo!");
});
