import { Client } from "@langchain/langgraph-sdk";

const client = new Client({ apiUrl: "http://localhost:8123" });
const thread = await client.threads.create();

const stream = client.runs.stream(thread.thread_id, "agent", {
  input: { messages: [{ role: "user", content: "What is (3 + 4) * 5, and the weather in Paris?" }] },
  streamMode: "messages-tuple",
});
for await (const { event, data } of stream) {
  if (event === "messages" && data[0].type === "ai") process.stdout.write(data[0].content);
}
console.log();
const state = await client.threads.getState(thread.thread_id);
console.log(state.values.messages.map(({ type, content }) => `${type}: ${content}`));

const history = await client.threads.getHistory(thread.thread_id);
console.log(history.map(({ metadata, next }) => `step ${metadata.step}, next ${next}`));
const refund = await client.threads.create();
await client.runs.wait(refund.thread_id, "approval", {
  input: { messages: [{ role: "user", content: "Please refund order 1234 for $25." }] },
});
const { status, interrupts } = await client.threads.get(refund.thread_id);
console.log(status, Object.values(interrupts)[0][0].value.action_requests);

const decided = await client.runs.wait(refund.thread_id, "approval", {
  command: { resume: { decisions: [{ type: "approve" }] } },
});
console.log(decided.receipt);
const quick = await client.assistants.create({
  graphId: "agent",
  name: "quick",
  context: { token_delay_ms: 0 },
});
await client.runs.wait(thread.thread_id, quick.assistant_id, {
  input: { messages: [{ role: "user", content: "My name is Ada." }] },
});
const answer = await client.runs.wait(thread.thread_id, quick.assistant_id, {
  input: { messages: [{ role: "user", content: "What is my name?" }] },
});
console.log(answer.messages.at(-1).content);
const resumable = client.runs.stream(thread.thread_id, "agent", {
  input: { messages: [{ role: "user", content: "What is 6 * 7, and the weather in Oslo?" }] },
  context: { token_delay_ms: 500 },
  streamMode: "updates",
  streamResumable: true,
});
for await (const { id, event, data } of resumable) console.log(id, event, Object.keys(data));
