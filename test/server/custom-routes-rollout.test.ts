import { describe } from "vitest";
import { buildTarball } from "../../cli/project/tarball.ts";
import { newDeployer } from "../support/deployments.ts";
import { deployed, fixtureTarball, patched, upload } from "../support/rollouts.ts";
import { type TestServer, testWithServer } from "../support/server.ts";
import { temporaryProject } from "../unit/cli/support/temporary-project.ts";

const test = testWithServer({ AGENT_AUTH: "api-key" });

const GRAPH = `
import { Annotation, StateGraph } from "@langchain/langgraph";
export const graph = new StateGraph(Annotation.Root({ said: Annotation }))
  .addNode("say", () => ({ said: "hello" })).addEdge("__start__", "say").compile();
`;

async function tarballWith(app: string): Promise<Uint8Array<ArrayBuffer>> {
  const configPath = temporaryProject({
    "langgraph.json": { graphs: { agent: "./agent.js:graph" }, http: { app: "./app.js" } },
    "agent.js": GRAPH,
    "app.js": app,
  });
  const { bytes } = await buildTarball({ configPath, schemas: false, langGraph: "ours" });
  return new Uint8Array(bytes);
}

const answers = (text: string): string =>
  `export default { fetch: () => new Response("${text}") };`;

async function told(server: TestServer, id: string, apiKey: string): Promise<string> {
  const headers = { "x-api-key": apiKey };
  return (await server.fetch(`/deployments/${id}/told`, { headers })).text();
}

describe("a deployment's own routes", () => {
  test("belong to the revision that serves", async ({ server, expect }) => {
    const deployer = await newDeployer(server);
    const { deployment } = await deployed(deployer, "own-routes", await tarballWith(answers("1")));
    expect(await told(server, deployment.id, deployer.apiKey)).toBe("1");
    const next = await upload(deployer, await tarballWith(answers("2")));
    const revision = { source_revision_config: { source_tarball_path: next } };
    expect((await patched(deployer, deployment.id, revision)).status).toBe("DEPLOYED");
    expect(await told(server, deployment.id, deployer.apiKey)).toBe("2");
  });

  test("fail the rollout when the app is invalid or does not load", async ({ server, expect }) => {
    const deployer = await newDeployer(server);
    const messageOf = async (name: string, app: string): Promise<string | null> => {
      const { revision } = await deployed(deployer, name, await tarballWith(app));
      expect(revision.status).toBe("DEPLOY_FAILED");
      return revision.status_message;
    };
    expect(await messageOf("no-app", "export default 7;")).toBe(
      '"http.app" must name a Hono app, or an object with a function "fetch"',
    );
    expect(await messageOf("broken", 'throw new Error("no key is configured");')).toMatch(
      /^"http\.app" does not load: no key is configured/,
    );
  });

  test("are not available to another workspace", async ({ server, expect }) => {
    const deployer = await newDeployer(server);
    const other = await newDeployer(server);
    const { deployment } = await deployed(deployer, "tenant", await fixtureTarball("routes"));
    const answer = (id: string) => told(server, id, other.apiKey);
    expect(await answer(deployment.id)).toBe(await answer("01234567-89ab-7def-8123-456789abcdef"));
  });
});
