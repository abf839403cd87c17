import { asked, said, tokensOf } from "./messages.ts";
import { newClient, PLACES, testWithProject } from "./project-test.ts";

const FORECAST = "It is sunny in Oslo, as ever.";

/**
 * Tests what projects of LangGraph 0.x do, with the packages of the folder `path`. The oldest versions, also on Node,
 * send an answer as one message where the node does not stream it itself, and run a node that they should stop before.
 */
export function testLangGraph0(
  path: string,
  {
    streamsTokens,
    interruptsBefore = true,
  }: { streamsTokens: boolean; interruptsBefore?: boolean },
): void {
  const test = testWithProject(path, {
    sources: "langgraph-0.2",
    answers: (models) =>
      models
        .on(
          { userMessage: "weather", hasToolResult: false },
          { toolCalls: [{ name: "get_weather", arguments: '{"city":"Oslo"}' }] },
        )
        .on({ userMessage: "weather", hasToolResult: true }, { content: FORECAST })
        .on({ userMessage: "Thanks" }, { content: "You are welcome." }),
  });

  test.for(PLACES)(
    "%s: the prebuilt agent calls its tool, and remembers its thread the next time",
    async (place, { project, expect }) => {
      const client = await project.client(place);
      const { thread_id } = await client.threads.create();
      const ask = (text: string) => client.runs.wait(thread_id, "agent", { input: asked(text) });

      await ask("The weather in Oslo?");
      expect(said(await ask("Thanks"))).toEqual([
        ["human", "The weather in Oslo?"],
        ["ai", [{ name: "get_weather", args: { city: "Oslo" } }]],
        ["tool", "It is always sunny in Oslo."],
        ["ai", FORECAST],
        ["human", "Thanks"],
        ["ai", "You are welcome."],
      ]);
    },
  );

  test.for(PLACES)(
    "%s: the agent's answer is streamed once",
    async (place, { project, expect }) => {
      const client = await project.client(place);
      const tokens = await tokensOf(client, "agent", asked("The weather in Oslo?"));
      expect(tokens.length > 1).toBe(streamsTokens);
      expect(tokens.join("")).toBe(FORECAST);
    },
  );

  test("its trace has the steps of a run", async ({ project, expect }) => {
    const client = await project.client("started");
    const { thread_id } = await client.threads.create();
    const { run_id } = await client.runs.create(thread_id, "agent", {
      input: asked("The weather in Oslo?"),
    });
    await client.runs.join(thread_id, run_id);
    await expect
      .poll(() => project.traced(run_id))
      .toEqual(expect.arrayContaining(["agent", "tools", "get_weather"]));
  });

  test.for(PLACES)(
    "%s, a graph is interrupted and resumed, twice",
    async (place, { project, expect }) => {
      const client = await project.client(place);
      const { thread_id } = await client.threads.create();
      await client.runs.wait(thread_id, "chat", { input: asked("Knock, knock") });
      await client.runs.wait(thread_id, "chat", { command: { resume: "Ada" } });
      const { tasks } = await client.threads.getState(thread_id);
      expect(tasks.flatMap(({ interrupts }) => interrupts.map(({ value }) => value))).toEqual([
        "2 messages; who is there?",
      ]);
      const values = await client.runs.wait(thread_id, "chat", { command: { resume: "Bob" } });
      expect(said(values)).toEqual([
        ["human", "Knock, knock"],
        ["ai", "Hello, Ada"],
        ["ai", "Hello, Bob"],
      ]);
    },
  );

  test.for(PLACES)(
    "%s: a thread that waits has the status of an interrupt",
    async (place, { project, expect }) => {
      const client = await project.client(place);
      const { thread_id } = await client.threads.create();
      const run = (payload: object) => client.runs.wait(thread_id, "chat", payload);
      const status = async () => (await client.threads.get(thread_id)).status;

      expect(await run({ input: asked("Knock, knock") })).toEqual({
        __interrupt__: [expect.objectContaining({ value: "1 messages; who is there?" })],
      });
      expect(await status()).toBe("interrupted");
      await run({ command: { resume: "Ada" } });
      await run({ command: { resume: "Bob" } });
      expect(await status()).toBe("idle");
    },
  );

  test.for(interruptsBefore ? PLACES : [])(
    "%s: a thread waits before a node, and its status shows it",
    async (place, { project, expect }) => {
      const client = await project.client(place);
      const { thread_id } = await client.threads.create();
      const before = { input: asked("Knock, knock"), interruptBefore: ["ask"] };
      expect(await client.runs.wait(thread_id, "chat", before)).toEqual({ __interrupt__: [] });
      expect((await client.threads.get(thread_id)).status).toBe("interrupted");
    },
  );

  test("the platform builds the project", async ({ project, expect }) => {
    const { code, stdout, stderr } = await project.deploy(project.folder, "--build", "remote");
    expect(code, stderr).toBe(0);
    const values = await newClient(stdout.trim()).runs.wait(null, "agent", {
      input: asked("The weather in Oslo?"),
    });
    expect(said(values).at(-1)).toEqual(["ai", FORECAST]);
  });
}
