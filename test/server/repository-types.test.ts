import { describe } from "vitest";
import { extractSchemas } from "../../cli/project/extract-schemas.ts";
import { loadProjectConfig } from "../../cli/project/langgraph-json.ts";
import { REPO_ROOT } from "../support/built-fixtures.ts";
import { comparable } from "../support/comparable-schemas.ts";
import { newDeployer } from "../support/deployments.ts";
import { agentClient } from "../support/rollouts.ts";
import {
  BUILDS,
  buildLines,
  githubBody,
  rolledOut,
  testWithRepositories as test,
} from "../support/repository-builds.ts";
import { temporaryProject } from "../unit/cli/support/temporary-project.ts";

const FILES = {
  "langgraph.json": JSON.stringify({ graphs: { agent: "./agent.ts:graph" } }),
  "tsconfig.json": JSON.stringify({ compilerOptions: { paths: { "@/*": ["./types/*"] } } }),
  "agent.ts": `
import { Annotation, MessagesAnnotation, StateGraph } from "@langchain/langgraph";
import type { Step } from "@/steps.ts";
const Child = Annotation.Root({ asked: Annotation<string[]> });
const child = new StateGraph(Child)
  .addNode("ask", () => ({ asked: [] }))
  .addEdge("__start__", "ask")
  .compile();
const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  asked: Annotation<string[]>,
  topic: Annotation<string>,
  steps: Annotation<Step[]>({ reducer: (a, b) => a.concat(b), default: () => [] }),
});
export const graph = new StateGraph(State, Annotation.Root({ model: Annotation<"small" | "large"> }))
  .addNode("child", child)
  .addEdge("__start__", "child")
  .compile();
`,
  "types/steps.ts": "export interface Step { title: string; done?: boolean }",
};

describe("the schemas of a project that is built on the platform", BUILDS, () => {
  test("are those of its types, and are cached for the next identical build", async ({
    server,
    host,
    registry,
    expect,
  }) => {
    const packages = await registry.manifests(["@langchain/core", "@langchain/langgraph"]);
    host.push("acme/typed", { ...FILES, ...packages });
    const deployer = await newDeployer(server);
    const first = await rolledOut(deployer, githubBody(host, "typed", "acme/typed"));
    const schemasOf = async ({ deployment }: typeof first) => {
      const client = agentClient(deployment, deployer.apiKey);
      const [assistant] = await client.assistants.search({ graphId: "agent" });
      const id = assistant?.assistant_id ?? "";
      const subgraphs = await client.assistants.getSubgraphs(id);
      return { agent: await client.assistants.getSchemas(id), child: subgraphs["child"] };
    };
    const taken = "Took the schemas of types from an earlier build";
    expect(first.revision).toMatchObject({ status: "DEPLOYED", status_message: null });
    expect(await buildLines(deployer, first.deployment)).not.toContain(taken);
    const schemas = await schemasOf(first);
    expect(schemas.agent.input_schema).toMatchObject({
      properties: { topic: { type: "string" }, messages: { type: "array" } },
    });
    expect(schemas.agent.config_schema).toMatchObject({
      properties: { model: { type: "string", enum: expect.arrayContaining(["small", "large"]) } },
    });

    const project = loadProjectConfig(temporaryProject(FILES));
    const sources = project.graphs.map(({ file }) => file);
    const signal = new AbortController().signal;
    const local = await extractSchemas({ project, sources }, { repoRoot: REPO_ROOT, signal });
    const ofGraph = local.schemas["agent"];
    for (const name of ["agent", "child"] as const) {
      const of = ofGraph?.[name === "agent" ? "agent" : "agent|child"];
      expect(comparable(schemas[name])).toMatchObject({
        input_schema: comparable(of?.["input"]),
        output_schema: comparable(of?.["output"]),
        state_schema: comparable(of?.["state"]),
        config_schema: comparable(of?.["config"]),
      });
    }

    const asked = registry.upstream.seen.length;
    const again = await rolledOut(deployer, githubBody(host, "again", "acme/typed"));
    expect(await buildLines(deployer, again.deployment)).toContain(taken);
    expect(registry.upstream.seen.length).toBe(asked);
    expect(await schemasOf(again)).toEqual({
      agent: schemas.agent,
      child: schemas.child,
    });
  });
});
