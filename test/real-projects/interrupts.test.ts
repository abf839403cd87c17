import type { Client } from "@langchain/langgraph-sdk";
import { asked, said } from "./support/messages.ts";
import { PLACES, testWithProject } from "./support/project-test.ts";

const EMAIL = { to: "ada@example.com", subject: "Lunch" };

const test = testWithProject("current/interrupts", {
  answers: (models) =>
    models
      .on(
        { userMessage: "Invite", hasToolResult: false },
        { toolCalls: [{ name: "send_email", arguments: JSON.stringify(EMAIL) }] },
      )
      .on({ toolResultContains: 'Sent "Lunch" to ada' }, { content: "Ada is invited." })
      .on({ toolResultContains: 'Sent "Dinner" to ada' }, { content: "Ada comes to dinner." })
      .on({ toolResultContains: "Not today" }, { content: "Nobody is invited." }),
});

async function questionsOf(client: Client, threadId: string): Promise<unknown[]> {
  const { tasks } = await client.threads.getState(threadId);
  return tasks.flatMap(({ interrupts }) => interrupts.map(({ value }) => value));
}

test.for(PLACES)(
  "%s: a graph waits for a person, and continues with their decision",
  async (place, { project, expect }) => {
    const client = await project.client(place);
    const { thread_id } = await client.threads.create();
    const resume = (decision: unknown) =>
      client.runs.wait(thread_id, "approval", { command: { resume: decision } });

    await client.runs.wait(thread_id, "approval", { input: { draft: "A poem" } });
    expect(await questionsOf(client, thread_id)).toEqual([
      { question: "May this be published?", draft: "A poem" },
    ]);
    await resume({ edit: "A better poem" });
    expect(await questionsOf(client, thread_id)).toEqual([
      { question: "May this be published?", draft: "A better poem" },
    ]);
    expect(await resume("approve")).toEqual({
      draft: "A better poem",
      outcome: "published: A better poem",
    });
  },
);

const DINNER = { name: "send_email", args: { ...EMAIL, subject: "Dinner" } };

const DECISIONS = [
  { decision: { type: "approve" }, answer: "Ada is invited." },
  { decision: { type: "edit", editedAction: DINNER }, answer: "Ada comes to dinner." },
  { decision: { type: "reject", message: "Not today" }, answer: "Nobody is invited." },
];

test.for(PLACES.flatMap((place) => DECISIONS.map((made) => ({ place, made }))))(
  "$place: an agent's tool call waits for somebody who can $made.decision.type it",
  async ({ place, made: { decision, answer } }, { project, expect }) => {
    const client = await project.client(place);
    const { thread_id } = await client.threads.create();
    await client.runs.wait(thread_id, "mailer", { input: asked("Invite Ada") });
    expect(await questionsOf(client, thread_id)).toMatchObject([
      { actionRequests: [{ name: "send_email", args: EMAIL }] },
    ]);
    const values = await client.runs.wait(thread_id, "mailer", {
      command: { resume: { decisions: [decision] } },
    });
    expect(said(values).at(-1)).toEqual(["ai", answer]);
  },
);
