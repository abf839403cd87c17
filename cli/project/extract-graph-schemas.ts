import { getStaticGraphSchema } from "@langchain/langgraph-api/schema";
import type { SchemaReply, SchemaRequest } from "./schema-answer.ts";
import { messageOf } from "../../src/lib/error-text.ts";

/**
 * Extracts all schemas in one program, which is fastest. When that fails, extracts them one by one, so that
 * the graphs without errors still get schemas.
 */
export async function extractGraphSchemas(requests: SchemaRequest[]): Promise<SchemaReply> {
  try {
    return await extractTogether(requests);
  } catch (error) {
    if (requests.length <= 1) return requests.map(() => ({ problem: messageOf(error) }));
    const replies: SchemaReply = [];
    for (const request of requests) replies.push(...(await extractGraphSchemas([request])));
    return replies;
  }
}

async function extractTogether(requests: SchemaRequest[]): Promise<SchemaReply> {
  const byIndex = Object.fromEntries(requests.map((request, index) => [String(index), request]));
  const found = await getStaticGraphSchema(byIndex, { mainThread: true });
  return requests.map((_, index) => ({ schemas: { ...found[String(index)] } }));
}
