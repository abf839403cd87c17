import { PLACES, testWithProject } from "./support/project-test.ts";

const test = testWithProject("current/sdk-inside");

test.for(PLACES)(
  "%s: a graph runs another one in a thread that its client creates",
  async (place, { project, expect }) => {
    const client = await project.client(place);
    const values = await client.runs.wait(null, "dispatcher", { input: { task: "sweep" } });
    expect(values).toEqual({ task: "sweep", result: "dispatched sweep: done" });
    const threads = await client.threads.search({ metadata: { dispatched: true } });
    expect(threads).toMatchObject([{ values: { task: "sweep", result: "sweep: done" } }]);
  },
);

test.for(PLACES)(
  "%s: a remote graph without a URL belongs to the same deployment",
  async (place, { project, expect }) => {
    const client = await project.client(place);
    const values = await client.runs.wait(null, "remote", { input: { task: "dust" } });
    expect(values).toEqual({ task: "dust", result: "remotely dust: done, dust known" });
  },
);
