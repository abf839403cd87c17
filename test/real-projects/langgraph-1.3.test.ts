import { PLACES, testWithProject } from "./support/project-test.ts";

const test = testWithProject("langgraph-1.3");

test.for(PLACES)(
  "%s, a graph with a StateSchema object has schemas and runs",
  async (place, { project, expect }) => {
    const client = await project.client(place);
    const schemas = await client.assistants.getSchemas("agent");
    expect(schemas.state_schema).toMatchObject({
      type: "object",
      properties: { item: { type: "string" }, total: { type: "number" } },
    });
    expect(schemas.input_schema).toMatchObject({ properties: { item: { type: "string" } } });
    expect(await client.runs.wait(null, "agent", { input: { item: "lamp" } })).toEqual({
      item: "lamp",
      total: 4,
    });
  },
);
