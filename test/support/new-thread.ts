import type { Client } from "@langchain/langgraph-sdk";

/** Creates a thread and returns its id. */
export async function newThread(client: Client): Promise<string> {
  return (await client.threads.create()).thread_id;
}
