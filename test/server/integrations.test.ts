import { describe } from "vitest";
import { createDeployment, type Deployer, newDeployer } from "../support/deployments.ts";
import { ACCOUNT_TOKEN } from "../support/git-host.ts";
import { type Answer, send } from "../support/http.ts";
import { ended, githubBody, testWithRepositories } from "../support/repository-builds.ts";
import type { TestServer } from "../support/server.ts";

const MISSING_ID = "00000000-0000-4000-8000-000000000000";
const SOURCES = { "langgraph.json": "{}" };

/** A `test` whose installation has one token for all workspaces. */
const test = testWithRepositories.override("vars", { scope: "file" }, ({ host, registry }) => ({
  ...host.vars,
  NPM_REGISTRY: registry.url,
  GITHUB_INTEGRATION_TOKEN: ACCOUNT_TOKEN,
  GITHUB_INTEGRATION_WORKSPACES: "*",
}));

const get = (server: TestServer, { apiKey }: Deployer, path: string): Promise<Answer> =>
  send(server, "GET", `/v1/integrations/github/${path}`, undefined, { "x-api-key": apiKey });

async function integrationOf(server: TestServer, deployer: Deployer): Promise<string> {
  const { body } = await get(server, deployer, "install");
  const [only] = body as { id: string }[];
  return only?.id ?? "none";
}

describe("with a token of the installation", () => {
  test("its account and its repositories are listed, with different ids in each workspace", async ({
    server,
    host,
    expect,
  }) => {
    for (let n = 0; n < 101; n += 1) host.push(`acme/many-${String(n).padStart(3, "0")}`, SOURCES);
    const [one, other] = await Promise.all([newDeployer(server), newDeployer(server)]);
    const { status, body } = await get(server, one, "install");
    const id = await integrationOf(server, one);
    expect([status, body]).toEqual([200, [{ id, installation_id: 583231, name: "acme-bot" }]]);
    const { body: listed } = await get(server, one, `${id}/repos`);
    const found = listed as { name: string }[];
    expect(found.length).toBeGreaterThanOrEqual(101);
    expect(found.find(({ name }) => name === "many-100")).toEqual({
      host_integration_id: id,
      id: expect.any(Number),
      name: "many-100",
      owner: "acme",
      url: host.urlOf("acme/many-100"),
      default_branch: "main",
    });
    const foreign = await get(server, other, `${id}/repos`);
    expect(foreign).toMatchObject({
      status: 404,
      body: { detail: expect.stringMatching(/^Integration ID .* not found/) },
    });
    const missing = await get(server, other, `${MISSING_ID}/repos`);
    expect(missing.status).toBe(404);
    expect(await integrationOf(server, other)).not.toBe(id);
  });

  test("it is used for deployments that name it, and for no others", async ({
    server,
    host,
    expect,
  }) => {
    host.push("acme/closed", SOURCES, { token: ACCOUNT_TOKEN });
    const deployer = await newDeployer(server);
    const integration_id = await integrationOf(server, deployer);
    const body = githubBody(host, "by-it", "acme/closed");
    const source_config = { ...(body["source_config"] as object), integration_id };
    const made = await createDeployment(deployer, { ...body, source_config });
    expect(made.source_config).toMatchObject({ integration_id });
    expect(await ended(deployer, made)).toMatchObject({
      status_message: expect.stringMatching(/^langgraph\.json/),
    });
    const without = await createDeployment(deployer, githubBody(host, "alone", "acme/closed"));
    expect(await ended(deployer, without)).toMatchObject({
      status_message: expect.stringMatching(/^acme\/closed has no commit "HEAD", or not everybody/),
    });
    const own = { name: "THREADWORKS_GITHUB_TOKEN", value: "another one" };
    const both = await createDeployment(deployer, {
      ...body,
      name: "both",
      source_config,
      secrets: [own],
    });
    expect(await ended(deployer, both)).toMatchObject({
      status_message: expect.stringMatching(/token THREADWORKS_GITHUB_TOKEN may not read it$/),
    });
    const wrong = { ...(body["source_config"] as object), integration_id: MISSING_ID };
    const refused = await deployer.call("POST", "/deployments", {
      ...body,
      name: "wrong",
      source_config: wrong,
    });
    expect(refused).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ["body", "source_config", "integration_id"] }] },
    });
  });
});

test("a token that the Git host no longer accepts is reported", async ({
  server,
  host,
  expect,
}) => {
  const deployer = await newDeployer(server);
  const id = await integrationOf(server, deployer);
  host.accountToken = "another one";
  const answers = await Promise.all(
    ["install", `${id}/repos`].map((path) => get(server, deployer, path)),
  );
  host.accountToken = ACCOUNT_TOKEN;
  const body = { detail: "The Git host does not accept GITHUB_INTEGRATION_TOKEN" };
  expect(answers).toMatchObject([
    { status: 503, body },
    { status: 503, body },
  ]);
});
