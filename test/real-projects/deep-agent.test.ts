import type { FixtureMatch } from "@copilotkit/aimock";
import { asked, said, type Conversation } from "./support/messages.ts";
import { PLACES, testWithProject } from "./support/project-test.ts";

const TASK = { description: "Look for owls", subagent_type: "searcher" };
const NOTE = { file_path: "/notes.md", content: "Owls are unknown." };

const call = (name: string, args: object) => ({
  toolCalls: [{ name, arguments: JSON.stringify(args) }],
});

/** Matches the model's request that has this text and this number of previous turns. */
const asks = (text: string, turn: number): FixtureMatch => ({
  userMessage: text,
  predicate: ({ messages }) => messages.filter(({ role }) => role === "assistant").length === turn,
});

const test = testWithProject("current/deep-agent", {
  answers: (models) =>
    models
      // The searcher's turns: one search, one answer.
      .on(asks("Look for owls", 0), call("internet_search", { query: "owls" }))
      .on(asks("Look for owls", 1), { content: "Nobody knows owls." })
      // The researcher's turns.
      .on(asks("Research", 0), call("task", TASK))
      .on(asks("Research", 1), call("write_file", NOTE))
      .on(asks("Research", 2), { content: "My notes are written." })
      .on(asks("Which books", 0), call("read_file", { file_path: "/books/catalogue.md" }))
      .on({ toolResultContains: "The Voyage Out" }, { content: "One book: The Voyage Out." })
      .on(
        asks("Remember", 0),
        call("write_file", { file_path: "/memories/owls.md", content: "Owls hoot." }),
      )
      .on(asks("Remember", 1), { content: "I shall." })
      .on(asks("Recall", 0), call("read_file", { file_path: "/memories/owls.md" }))
      .on({ toolResultContains: "Owls hoot." }, { content: "Owls hoot." }),
});

test.for(PLACES)(
  "%s, a deep agent asks its subagent, and writes a file into its state",
  async (place, { project, expect }) => {
    const client = await project.client(place);
    const values = (await client.runs.wait(null, "researcher", {
      input: asked("Research owls"),
    })) as Conversation;
    expect(Object.keys(values["files"] as object)).toEqual(["/notes.md"]);
    expect(said(values).map(([, text]) => text)).toEqual([
      "Research owls",
      [{ name: "task", args: TASK }],
      "Nobody knows owls.",
      [{ name: "write_file", args: NOTE }],
      expect.stringContaining("/notes.md"),
      "My notes are written.",
    ]);
  },
);

test.for(PLACES)(
  "%s, a deep agent reads the files that the project has",
  async (place, { project, expect }) => {
    const client = await project.client(place);
    const values = await client.runs.wait(null, "librarian", {
      input: asked("Which books are there?"),
    });
    expect(said(values).at(-1)).toEqual(["ai", "One book: The Voyage Out."]);
  },
);

test.for(PLACES)(
  "%s: what a deep agent writes into the store is visible in the next thread",
  async (place, { project, expect }) => {
    const client = await project.client(place);
    await client.runs.wait(null, "librarian", { input: asked("Remember that owls hoot") });
    const values = await client.runs.wait(null, "librarian", { input: asked("Recall owls") });
    expect(said(values).at(-1)).toEqual(["ai", "Owls hoot."]);
  },
);
