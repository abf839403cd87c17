import { asked, said } from "./support/messages.ts";
import { PLACES, testWithProject } from "./support/project-test.ts";

const test = testWithProject("current/model-by-name", {
  answers: (models) =>
    models
      .on({ model: "gpt-4.1" }, { content: "I am of OpenAI." })
      .on({ model: "claude-sonnet-4-5" }, { content: "I am of Anthropic." }),
});

const NAMES = [
  { graph: "openai", model: undefined, answer: "I am of OpenAI." },
  { graph: "anthropic", model: undefined, answer: "I am of Anthropic." },
  { graph: "chosen", model: "openai:gpt-4.1", answer: "I am of OpenAI." },
  { graph: "chosen", model: "claude-sonnet-4-5", answer: "I am of Anthropic." },
];

const CASES = PLACES.flatMap((place) => NAMES.map((named) => ({ place, named })));

test.for(CASES)(
  "$place: the graph $named.graph finds its model ($named.model)",
  async ({ place, named: { graph, model, answer } }, { project, expect }) => {
    const client = await project.client(place);
    const config = model === undefined ? {} : { config: { configurable: { model } } };
    const values = await client.runs.wait(null, graph, { input: asked("Who are you?"), ...config });
    expect(said(values)).toEqual([
      ["human", "Who are you?"],
      ["ai", answer],
    ]);
  },
);

test.for(PLACES)(
  "%s: an error about a missing provider names the command that installs it",
  async (place, { project, expect }) => {
    const client = await project.client(place);
    const config = { configurable: { model: "google-genai:gemini-2.5-flash" } };
    const run = client.runs.wait(null, "chosen", { input: asked("Who are you?"), config });
    await expect(run).rejects.toThrow("npm install @langchain/google-genai");
  },
);
