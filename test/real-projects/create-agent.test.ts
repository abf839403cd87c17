import { asked, said, tokensOf } from "./support/messages.ts";
import { PLACES, testWithProject } from "./support/project-test.ts";

const FORECAST = "It is sunny in Oslo, as ever.";

const test = testWithProject("current/create-agent", {
  answers: (models) =>
    models
      .on(
        { userMessage: "weather", hasToolResult: false },
        { toolCalls: [{ name: "get_weather", arguments: '{"city":"Oslo"}' }] },
      )
      .on({ toolResultContains: "It is always sunny in Oslo." }, { content: FORECAST })
      .on(
        { userMessage: "Report" },
        { toolCalls: [{ name: "extract-1", arguments: '{"city":"Oslo","celsius":21}' }] },
      ),
});

test.for(PLACES)("%s, the agent calls its tool and answers", async (place, { project, expect }) => {
  const client = await project.client(place);
  const values = await client.runs.wait(null, "agent", { input: asked("The weather in Oslo?") });
  expect(said(values)).toEqual([
    ["human", "The weather in Oslo?"],
    ["ai", [{ name: "get_weather", args: { city: "Oslo" } }]],
    ["tool", "It is always sunny in Oslo."],
    ["ai", FORECAST],
  ]);
});

test.for(PLACES)(
  "%s, the answer comes in tokens, each once",
  async (place, { project, expect }) => {
    const client = await project.client(place);
    const tokens = await tokensOf(client, "agent", asked("The weather in Oslo?"));
    expect(tokens.length).toBeGreaterThan(1);
    expect(tokens.join("")).toBe(FORECAST);
  },
);

test.for(PLACES)(
  "%s: middleware keeps its state, and an answer has the requested form",
  async (place, { project, expect }) => {
    const client = await project.client(place);
    const values = await client.runs.wait(null, "reporter", { input: asked("Report from Oslo") });
    expect(values).toMatchObject({
      modelCalls: 1,
      structuredResponse: { city: "Oslo", celsius: 21 },
    });
  },
);
