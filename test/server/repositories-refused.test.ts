import { describe } from "vitest";
import { type DeploymentBody, newDeployer } from "../support/deployments.ts";
import { send } from "../support/http.ts";
import { type Files } from "../support/git-host.ts";
import type { NpmRegistry } from "../support/npm-registry.ts";
import {
  BUILDS,
  ended,
  githubBody,
  rolledOut,
  testWithRepositories as test,
} from "../support/repository-builds.ts";

const PACKAGES = ["@langchain/core", "@langchain/langgraph"];

const CONFIG = { "langgraph.json": JSON.stringify({ graphs: { agent: "./agent.js:graph" } }) };
const AGENT = { ...CONFIG, "agent.js": 'export { graph } from "@langchain/langgraph";' };

/** Returns the files of a project, with a change of its lockfile. */
async function locked(
  registry: NpmRegistry,
  change: (lock: { packages: Record<string, Record<string, unknown>> }) => void,
): Promise<Files> {
  const manifests = await registry.manifests(PACKAGES);
  const lock = JSON.parse(manifests["package-lock.json"]);
  change(lock);
  return { ...AGENT, ...manifests, "package-lock.json": JSON.stringify(lock) };
}

const CORE = "node_modules/@langchain/core";

describe("a build fails with a clear message", BUILDS, () => {
  test.for<[string, (registry: NpmRegistry) => Files | Promise<Files>, RegExp]>([
    [
      "without a configuration",
      () => ({ "a.js": "" }),
      /^no project here: langgraph\.json does not exist$/,
    ],
    [
      "for a configuration that is not JSON",
      () => ({ "langgraph.json": "{" }),
      /^langgraph\.json is not valid JSON/,
    ],
    [
      "for a graph of Python",
      () => ({ "langgraph.json": JSON.stringify({ graphs: { agent: "./agent.py:graph" } }) }),
      /agent\.py is Python; only JavaScript and TypeScript run here/,
    ],
    [
      "without a lockfile",
      () => ({ ...AGENT, "package.json": "{}" }),
      /^there is no lockfile: commit the package-lock\.json that npm install writes/,
    ],
    [
      "for a lockfile of bun",
      () => ({ ...AGENT, "package.json": "{}", "bun.lock": "" }),
      /^bun\.lock cannot be read here: commit a package-lock\.json, a pnpm-lock\.yaml or a yarn\.lock/,
    ],
    [
      "for a package of which neither lockfile nor registry has a digest",
      async (registry) => {
        const manifests = await registry.yarnManifests(PACKAGES, "berry");
        const lock = manifests["yarn.lock"]?.replace(
          'npm:1.4.0":\n  version: 1.4.0',
          'npm:1.4.0":\n  version: 0.0.2',
        );
        return { ...AGENT, ...manifests, "yarn.lock": lock ?? "" };
      },
      /^@langchain\/core@0\.0\.2 has no digest in the registry, nor in the lockfile$/,
    ],
    [
      "for a lockfile that is cut off",
      () => ({ ...AGENT, "package.json": "{}", "package-lock.json": '{"lockfileVersion": 3,' }),
      /^package-lock\.json cannot be used: .*JSON.*Run npm install, and commit what it writes$/,
    ],
    [
      "for a lockfile that is older than the manifest",
      (registry) =>
        locked(registry, ({ packages }) => {
          packages[""] = { dependencies: { "@langchain/core": "1.4.0" } };
        }),
      /^package-lock\.json cannot be used: package\.json asks for @langchain\/langgraph@1\.7\.3, and it has none/,
    ],
    [
      "for a package with another content than the lockfile says",
      (registry) =>
        locked(registry, ({ packages }) => {
          const integrity = `sha512-${Buffer.alloc(64, 7).toString("base64")}`;
          packages[CORE] = { ...packages[CORE], integrity };
        }),
      /^@langchain\/core@1\.4\.0 is not what the lockfile says: the registry's archive has another digest/,
    ],
    [
      "for a package that the registry does not have",
      (registry) =>
        locked(registry, ({ packages }) => {
          const integrity = `sha512-${Buffer.alloc(64, 8).toString("base64")}`;
          packages[CORE] = { ...packages[CORE], version: "0.0.1", integrity };
        }),
      /^@langchain\/core@0\.0\.1 is not in the registry, which answers 404$/,
    ],
    [
      "for a package of another repository",
      (registry) =>
        locked(registry, ({ packages }) => {
          packages[CORE] = { ...packages[CORE], resolved: "git+ssh://git@host/core.git#1" };
        }),
      /^@langchain\/core comes from git\+ssh:.*: only packages of the registry can be installed here$/,
    ],
    [
      "for a missing export",
      (registry) => locked(registry, () => undefined),
      /does not build:\n.*graph "agent": .*agent\.js has no export named "graph"|No matching export/,
    ],
  ])("%s", async ([, filesOf, sentence], { server, host, registry, expect, task }) => {
    const sha = host.push(`acme/${task.id}`, await filesOf(registry));
    const deployer = await newDeployer(server);
    const { revision } = await rolledOut(deployer, githubBody(host, "mine", `acme/${task.id}`));
    expect(revision).toMatchObject({
      status: "BUILD_FAILED",
      status_message: expect.stringMatching(sentence),
      source_revision_config: { repo_commit_sha: sha },
    });
  });

  test("for a branch that does not exist", async ({ server, host, expect }) => {
    host.push("acme/branches", AGENT);
    const deployer = await newDeployer(server);
    const revision = { repo_ref: "nowhere" };
    const made = await rolledOut(deployer, githubBody(host, "mine", "acme/branches", { revision }));
    expect(made.revision).toMatchObject({
      status: "BUILD_FAILED",
      status_message: expect.stringMatching(/^acme\/branches has no commit "nowhere"/),
      source_revision_config: { repo_ref: "nowhere", repo_commit_sha: null },
    });
  });
});

test("a private repository is read with the deployment's token, which is sent nowhere else", async ({
  server,
  host,
  expect,
}) => {
  host.push("acme/private", { ...AGENT, "package.json": "{}" }, { token: "of acme" });
  const deployer = await newDeployer(server);
  const body = githubBody(host, "mine", "acme/private");
  const { deployment, revision } = await rolledOut(deployer, body);
  expect(revision).toMatchObject({
    status: "BUILD_FAILED",
    status_message: expect.stringMatching(
      /give the deployment the secret THREADWORKS_GITHUB_TOKEN$/,
    ),
  });
  const secrets = [{ name: "THREADWORKS_GITHUB_TOKEN", value: "of acme" }];
  const changed = await deployer.call("PATCH", `/deployments/${deployment.id}`, { secrets });
  expect(await ended(deployer, changed.body as DeploymentBody)).toMatchObject({
    status_message: expect.stringMatching(/^there is no lockfile/),
  });
  const archive = host.upstream.seen.findLast(({ url }) =>
    url.startsWith("/archives/acme/private"),
  );
  expect(archive?.headers["authorization"]).toBeUndefined();
  expect(archive?.headers["host"]).toMatch(/^localhost:/);
});

test("a new revision takes the branch's latest commit, and a redeploy the commit of that revision", async ({
  server,
  host,
  expect,
}) => {
  const first = host.push("acme/moving", { ...AGENT, "package.json": "{}" }, { branch: "main" });
  const deployer = await newDeployer(server);
  const body = githubBody(host, "mine", "acme/moving", { revision: { repo_ref: "main" } });
  const { deployment, revision } = await rolledOut(deployer, body);
  expect(revision).toMatchObject({ source_revision_config: { repo_commit_sha: first } });
  const second = host.push("acme/moving", { "README.md": "" }, { branch: "main" });

  const path = `/deployments/${deployment.id}/revisions`;
  const next = await deployer.call("POST", path);
  expect(
    await ended(deployer, { ...deployment, latest_revision_id: (next.body as { id: string }).id }),
  ).toMatchObject({ source_revision_config: { repo_ref: "main", repo_commit_sha: second } });

  const redeployed = await deployer.call("POST", `${path}/${revision.id}/redeploy`);
  expect(await ended(deployer, redeployed.body as DeploymentBody)).toMatchObject({
    status_message: expect.stringMatching(/^there is no lockfile/),
    source_revision_config: { repo_ref: "main", repo_commit_sha: first },
  });
});

test("an installation without an account has no integrations, and says what to do instead", async ({
  server,
  host,
  expect,
}) => {
  const { apiKey, call } = await newDeployer(server);
  const get = (path: string) =>
    send(server, "GET", `/v1/integrations/github/${path}`, undefined, { "x-api-key": apiKey });
  expect(await get("install")).toMatchObject({ status: 200, body: [] });
  const advice = /give the deployment the secret THREADWORKS_GITHUB_TOKEN/;
  const integration_id = "00000000-0000-4000-8000-000000000000";
  expect(await get(`${integration_id}/repos`)).toMatchObject({
    status: 404,
    body: { detail: expect.stringMatching(advice) },
  });
  const source_config = { repo_url: host.urlOf("acme/any"), integration_id };
  const body = { ...githubBody(host, "mine", "acme/any"), source_config };
  expect(await call("POST", "/deployments", body)).toMatchObject({
    status: 422,
    body: {
      detail: [
        {
          loc: ["body", "source_config", "integration_id"],
          msg: expect.stringMatching(advice),
        },
      ],
    },
  });
});

describe("a request is refused", () => {
  test.for([
    ["source_config", { repo_url: null }, "repo_url", "Field required for source github"],
    [
      "source_config",
      { repo_url: "https://example.com/a/b" },
      "repo_url",
      "the URL of a repository",
    ],
    ["source_config", { repo_url: "no URL" }, "repo_url", "the URL of a repository"],
    [
      "source_config",
      { install_command: "npm ci" },
      "install_command",
      "Commands are not run here",
    ],
    ["source_config", { build_command: "make" }, "build_command", "Commands are not run here"],
    [
      "source_revision_config",
      { langgraph_config_path: null },
      "langgraph_config_path",
      "required",
    ],
    ["source_revision_config", { repo_ref: "a..b" }, "repo_ref", "a branch, a tag or a commit"],
    ["source_revision_config", { repo_ref: "-x" }, "repo_ref", "a branch, a tag or a commit"],
    ["source_revision_config", { source_tarball_path: "x" }, "source_tarball_path", "no tarball"],
    ["source_revision_config", { image_uri: "a/b" }, "image_uri", "Images are not run here"],
  ] as const)("for %s: %o", async ([part, change, field, text], { server, host, expect }) => {
    const deployer = await newDeployer(server);
    const given = githubBody(host, "mine", "acme/any");
    const body = { ...given, [part]: { ...(given[part] as object), ...change } };
    const { status, body: answer } = await deployer.call("POST", "/deployments", body);
    const detail = [
      expect.objectContaining({ loc: ["body", part, field], msg: expect.stringContaining(text) }),
    ];
    expect([status, answer]).toEqual([422, { detail }]);
  });

  test("without the plan for own projects", async ({ server, host, expect }) => {
    const developer = await newDeployer(server, "developer");
    const { status } = await developer.call("POST", "/deployments", githubBody(host, "a", "a/b"));
    expect(status).toBe(403);
  });
});
