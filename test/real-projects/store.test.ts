import type { Client } from "@langchain/langgraph-sdk";
import { asked, said } from "./support/messages.ts";
import { PLACES, testWithProject } from "./support/project-test.ts";

const test = testWithProject("current/store");

async function answerTo(client: Client, user_id: string, text: string): Promise<unknown> {
  const values = await client.runs.wait(null, "memory_agent", {
    input: asked(text),
    config: { configurable: { user_id } },
  });
  return said(values).at(-1)?.[1];
}

test.for(PLACES)(
  "%s: an agent finds what a user told it by meaning in that user's next thread, but in no other user's",
  async (place, { project, expect }) => {
    const client = await project.client(place);
    await answerTo(client, "ada", "Remember: tea with milk");
    await answerTo(client, "bob", "Remember: coffee");
    expect(await answerTo(client, "ada", "Remember: cake")).toBe("I know: cake; tea with milk");
    expect(await answerTo(client, "bob", "Hello")).toBe("I know: coffee");
    expect(await answerTo(client, "ada", "What of tea?")).toBe("I know: tea with milk");
    expect(await answerTo(client, "ada", "What of cakes?")).toBe("I know: cake");
  },
);
