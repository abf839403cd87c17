import { appendFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "@langchain/langgraph-sdk";
import { testWithProject } from "./support/project-test.ts";

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

const greet = (client: Client) => client.runs.wait(null, "agent", { input: { name: "Ada" } });

test("a module fetches, draws ids, starts timers and logs while it is loaded", async ({
  project,
  expect,
}) => {
  expect(await greet(await project.client("started"))).toEqual({
    name: "Ada",
    greeting: "Good evening, Ada",
    instance: expect.stringMatching(/^[0-9a-f-]{36}$/),
  });
});

test("a graph that cannot be loaded is reported at the start, and only its own runs fail", async ({
  project,
  expect,
}) => {
  const told = project.logs.filter(({ level }) => level !== "info");
  expect(told.map(({ message }) => message).join("\n")).toMatch(/broken[^]*CRM_TOKEN is not set/);
  const client = await project.client("started");
  const run = client.runs.wait(null, "broken", { input: { messages: [] } });
  await expect(run).rejects.toThrow("CRM_TOKEN is not set");
});

test("a deployment is refused as long as one of its graphs cannot be loaded", async ({
  project,
  expect,
}) => {
  const refused = await project.deploy();
  expect(refused).toMatchObject({ code: 1, stdout: "" });
  expect(refused.stderr).toMatch(/DEPLOY_FAILED: .*CRM_TOKEN is not set/);

  appendFileSync(join(project.folder, ".env"), "CRM_TOKEN=a token of the tests\n");
  const client = await project.client("deployed");
  expect(await greet(client)).toMatchObject({ greeting: "Good evening, Ada" });
  expect(await client.runs.wait(null, "broken", { input: { messages: [] } })).toEqual({
    messages: [],
  });
});
