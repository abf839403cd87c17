import type { Client } from "@langchain/langgraph-sdk";

/** The id of a thread that has just been made. */
export async function newThread(client: Client): Promise<string> {
  return (await client.threads.create()).thread_id;
}
