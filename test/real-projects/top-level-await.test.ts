import { PLACES, testWithProject } from "./support/project-test.ts";

const test = testWithProject("current/top-level-await", {
  answers: (models) =>
    models.mount("/settings.json", {
      handleRequest: (_request, response) => {
        response.setHeader("content-type", "application/json").end('{"greeting":"Good evening"}');
        return Promise.resolve(true);
      },
    }),
  env: ({ baseUrl }) => ({ SETTINGS_URL: baseUrl }),
});

test.for(PLACES)(
  "%s, a module fetches, draws ids, starts timers and logs while it is loaded",
  async (place, { project, expect }) => {
    const client = await project.client(place);
    const values = await client.runs.wait(null, "agent", { input: { name: "Ada" } });
    expect(values).toEqual({
      name: "Ada",
      greeting: "Good evening, Ada",
      instance: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
  },
);

test.for(PLACES)(
  "%s, a run of a graph that cannot be loaded fails with its reason",
  async (place, { project, expect }) => {
    const client = await project.client(place);
    const run = client.runs.wait(null, "broken", { input: { messages: [] } });
    await expect(run).rejects.toThrow("CRM_TOKEN is not set");
  },
);

test("the start says which graph cannot be loaded, and why", ({ project, expect }) => {
  const errors = project.logs.filter(({ level }) => level !== "info");
  expect(errors.map(({ message }) => message).join("\n")).toMatch(/broken[^]*CRM_TOKEN is not set/);
});
