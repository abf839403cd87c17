import { vi } from "vitest";
import { PLACES, testWithProject } from "./support/project-test.ts";

// `"env": ["NAME"]` takes the variables from the environment in which the project is started or deployed.
vi.stubEnv("SUPPORT_DESK", "desk 1");
vi.stubEnv("BILLING_DESK", "desk 2");

const test = testWithProject("current/slash-id");

test.for(PLACES)(
  "%s, a graph with a slash in its id runs, with the variables of the environment",
  async (place, { project, expect }) => {
    const client = await project.client(place);
    const deskOf = (question: string) =>
      client.runs.wait(null, "support/triage", { input: { question } });
    expect(await deskOf("Where is my parcel?")).toMatchObject({ desk: "desk 1" });
    expect(await deskOf("Where is my invoice?")).toMatchObject({ desk: "desk 2" });
  },
);

test.for(PLACES)("%s, a graph with a dot in its id runs", async (place, { project, expect }) => {
  const client = await project.client(place);
  const values = await client.runs.wait(null, "billing.v1", { input: { invoice: "Invoice 7" } });
  expect(values).toEqual({ invoice: "Invoice 7", answer: "Invoice 7 is paid" });
});

test.for(PLACES)(
  "%s: both graphs have an assistant, schemas and a drawing under their ids",
  async (place, { project, expect }) => {
    const client = await project.client(place);
    const assistants = await client.assistants.search({ limit: 10 });
    expect(assistants.map(({ graph_id }) => graph_id).toSorted()).toEqual([
      "billing.v1",
      "support/triage",
    ]);
    for (const { assistant_id, graph_id } of assistants) {
      const schemas = await client.assistants.getSchemas(assistant_id);
      expect(schemas).toMatchObject({ graph_id });
      const { nodes } = await client.assistants.getGraph(assistant_id);
      expect(nodes.map(({ id }) => id)).toContain("__start__");
    }
  },
);
