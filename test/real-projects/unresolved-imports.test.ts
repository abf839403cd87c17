import { join } from "node:path";
import { PLACES, testWithProject } from "./support/project-test.ts";

const test = testWithProject("current/unresolved-imports");

test.for(PLACES)(
  "%s: missing optional dependencies of a package affect only the code that needs them",
  async (place, { project, expect }) => {
    const client = await project.client(place);
    const values = await client.runs.wait(null, "agent", { input: { url: "https://a.example" } });
    expect(values).toMatchObject({ title: "The page at https://a.example" });
  },
);

test("dependencies that a package lacks are reported at the start", ({ project, expect }) => {
  const warnings = project.logs.filter(({ level }) => level === "warn");
  expect(warnings.map(({ message }) => message)).toEqual([
    expect.stringMatching(/^playwright-core imports chromium-bidi\/[^]* is not installed/),
  ]);
});

test("an error about a package that the project lacks names the command that installs it", async ({
  project,
  expect,
}) => {
  const missing = join(project.folder, "missing.langgraph.json");
  const { code, stderr } = await project.deploy("--config", missing);
  expect(code).toBe(1);
  expect(stderr).toContain("npm install @acme/search-client");
  expect(stderr).toContain("src/missing.ts:3");
});
