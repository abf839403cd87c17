import { PLACES, testWithProject } from "./support/project-test.ts";

const test = testWithProject("current/js-only");

test.for(PLACES)("%s, a graph in CommonJS runs", async (place, { project, expect }) => {
  const client = await project.client(place);
  const values = await client.runs.wait(null, "commonjs", { input: { text: "hello" } });
  expect(values).toEqual({ text: "HELLO!" });
});

test.for(PLACES)(
  "%s: a function with tasks is interrupted, resumed, and remembers what it saved",
  async (place, { project, expect }) => {
    const client = await project.client(place);
    const { thread_id } = await client.threads.create();
    const write = async (topic: string, verdict: string): Promise<unknown> => {
      await client.runs.wait(thread_id, "essay", { input: { topic } });
      const { tasks } = await client.threads.getState(thread_id);
      expect(tasks.flatMap(({ interrupts }) => interrupts.map(({ value }) => value))).toEqual([
        { draft: `An essay about ${topic}` },
      ]);
      return client.runs.wait(thread_id, "essay", { command: { resume: verdict } });
    };
    expect(await write("owls", "good")).toEqual({ essays: ["An essay about owls (good)"] });
    expect(await write("cats", "long")).toEqual({
      essays: ["An essay about owls (good)", "An essay about cats (long)"],
    });
  },
);
