import { PLACES, testWithProject } from "./support/project-test.ts";

const test = testWithProject("current/custom-keys", { env: () => ({ DESK_NAME: "Desk 4" }) });

test.for(PLACES)(
  "%s, a project with path aliases and dotenv runs",
  async (place, { project, expect }) => {
    const client = await project.client(place);
    const values = await client.runs.wait(null, "agent", { input: { text: "Dear reader" } });
    expect(values).toEqual({ text: "Dear reader", signed: "Dear reader (Desk 4)" });
  },
);

test("unknown keys are named in one warning", ({ project, expect }) => {
  const warnings = project.logs.filter(({ level }) => level === "warn");
  expect(warnings.map(({ message }) => message)).toEqual([
    expect.stringMatching(/"name", "x-owner", "keep_latest_revisions"/),
  ]);
});
