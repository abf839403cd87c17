import { Client } from "@langchain/langgraph-sdk";
const client = new Client({ apiUrl: "http://localhost:8123" });
const thread = await client.threads.create();
const resumable = client.runs.stream(thread.thread_id, "agent", {
  input: { messages: [{ role: "user", content: "What is 6 * 7, and the weather in Oslo?" }] },
  context: { token_delay_ms: 500 },
  streamMode: "updates",
  streamResumable: true,
});
for await (const chunk of resumable) console.log(JSON.stringify(chunk).slice(0,200));
