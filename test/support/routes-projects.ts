import { type Deployer, newDeployer } from "./deployments.ts";
import { deployed, fixtureTarball } from "./rollouts.ts";
import { requestsTo, startServer, type TestServer, type TestVars } from "./server.ts";
import { makeWorkspace } from "./workspaces.ts";

/** A project of `test/fixtures/routes` in service. */
export type Served = TestServer & {
  /** A key of its workspace. */
  apiKey: string;
  /** A key of another workspace. */
  otherKey: string;
};

/** The two places where a project is served: by the Worker that it was built into, and as a deployment. */
export const PLACES = ["built-in", "deployed"] as const;

const CONFIGS = {
  routes: "langgraph.json",
  "guarded-routes": "guarded.langgraph.json",
  "open-routes": "open.langgraph.json",
};

export async function serveProject(
  place: (typeof PLACES)[number],
  project: keyof typeof CONFIGS,
  vars: TestVars = {},
): Promise<Served> {
  const given = { AGENT_AUTH: "api-key", ...vars };
  const isDeployed = place === "deployed";
  const server = await startServer(given, isDeployed ? "project" : project, { rollouts: true });
  try {
    const { apiKey: otherKey } = await makeWorkspace(server, "another");
    if (!isDeployed) {
      const { apiKey } = await makeWorkspace(server, "the project's");
      return { ...server, apiKey, otherKey };
    }
    const deployer = await newDeployer(server);
    const url = `${server.url}/deployments/${await deploy(deployer, CONFIGS[project])}`;
    const fetchBelow: TestServer["fetch"] = (path, init) => fetch(`${url}${path}`, init);
    return {
      ...server,
      ...requestsTo(url),
      url,
      fetch: fetchBelow,
      apiKey: deployer.apiKey,
      otherKey,
    };
  } catch (error) {
    await server.close();
    throw error;
  }
}

async function deploy(deployer: Deployer, config: string): Promise<string> {
  const tarball = await fixtureTarball(`routes/${config}`);
  const { deployment, revision } = await deployed(deployer, "routes", tarball);
  if (revision.status !== "DEPLOYED") throw new Error(revision.status_message ?? "");
  return deployment.id;
}
