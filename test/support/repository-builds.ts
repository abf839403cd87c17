import { join } from "node:path";
import { type DeploymentBody, type Deployer, newDeployer } from "./deployments.ts";
import { REPO_ROOT } from "./built-fixtures.ts";
import { filesOf, GitHost, type Files } from "./git-host.ts";
import { NpmRegistry } from "./npm-registry.ts";
import { testWithPlatform } from "./platform-server.ts";
import { endedRevision, type RevisionBody } from "./rollouts.ts";

/** A build takes seconds of CPU time, and the first one of a process many more, to compile its WebAssembly. */
const BUILD_LIMIT_MS = 280_000;

/** Options of a test that builds. */
export const BUILDS = { timeout: 2 * BUILD_LIMIT_MS };

/**
 * A `test` whose file shares a platform, its Git host, and its registry. Tests that do not depend on what their
 * workspace has built before share the workspace `builder`: its later builds take packages from the earlier ones.
 */
export const testWithRepositories = testWithPlatform()
  .extend("host", { scope: "file" }, async ({}, { onCleanup }) => {
    const host = await GitHost.start();
    onCleanup(() => host.close());
    return host;
  })
  .extend("registry", { scope: "file" }, async ({}, { onCleanup }) => {
    const registry = await NpmRegistry.start();
    onCleanup(() => registry.close());
    return registry;
  })
  .override("vars", { scope: "file" }, ({ host, registry }) => ({
    ...host.vars,
    NPM_REGISTRY: registry.url,
  }))
  .extend("builder", { scope: "file" }, ({ server }) => newDeployer(server));

/** Returns the files of this repository's template, as a separate repository. */
export async function templateFiles(
  registry: NpmRegistry,
  name: string,
  dependencies: readonly string[],
): Promise<Files> {
  return {
    ...filesOf(join(REPO_ROOT, "examples", name)),
    ...(await registry.manifests(dependencies)),
  };
}

/** Returns a project whose agent answers with the value of an expression, which is evaluated in each run. */
export async function speakingFiles(registry: NpmRegistry, expression: string): Promise<Files> {
  return {
    ...(await registry.manifests(["@langchain/core", "@langchain/langgraph"])),
    "langgraph.json": JSON.stringify({ graphs: { agent: "./agent.js:graph" } }),
    "agent.js": `import { MessagesAnnotation, StateGraph } from "@langchain/langgraph";
export const graph = new StateGraph(MessagesAnnotation)
  .addNode("say", () => ({ messages: [{ role: "ai", content: ${expression} }] }))
  .addEdge("__start__", "say").compile();`,
  };
}

export function githubBody(
  host: GitHost,
  name: string,
  repository: string,
  { revision = {}, ...change }: Record<string, unknown> & { revision?: object } = {},
): Record<string, unknown> {
  return {
    name,
    source: "github",
    source_config: { repo_url: host.urlOf(repository) },
    source_revision_config: { langgraph_config_path: "langgraph.json", ...revision },
    ...change,
  };
}

/** Creates a deployment, and waits until its first revision has ended. */
export async function rolledOut(
  deployer: Deployer,
  body: Record<string, unknown>,
): Promise<{ deployment: DeploymentBody; revision: RevisionBody & Record<string, unknown> }> {
  const created = await deployer.call("POST", "/deployments", body);
  if (created.status !== 201) throw new Error(`${created.status}: ${JSON.stringify(created.body)}`);
  const { id } = created.body as DeploymentBody;
  const revision = await ended(deployer, created.body as DeploymentBody);
  const { body: deployment } = await deployer.call("GET", `/deployments/${id}`);
  return { deployment: deployment as DeploymentBody, revision };
}

/** Returns the latest revision of a deployment when its rollout has ended. */
export async function ended(
  deployer: Deployer,
  { id, latest_revision_id }: DeploymentBody,
): Promise<RevisionBody & Record<string, unknown>> {
  const revision = await endedRevision(deployer, id, latest_revision_id, BUILD_LIMIT_MS);
  return { ...revision };
}

/** Returns the log lines of the build of a deployment's latest revision. */
export async function buildLines(
  { apiKey }: Deployer,
  { id, latest_revision_id, source_config }: DeploymentBody,
): Promise<string[]> {
  const path = `/v1/projects/${id}/revisions/${latest_revision_id}/build_logs`;
  const response = await fetch(new URL(path, String(source_config["custom_url"])), {
    method: "POST",
    headers: { "x-api-key": apiKey },
    body: JSON.stringify({ order: "asc" }),
  });
  const { logs } = (await response.json()) as { logs: { message: string }[] };
  return logs.map(({ message }) => message);
}
