import { describe } from "vitest";
import {
  createDeployment,
  type DeploymentBody,
  newDeployer,
  revisionsOf,
  sourceBody,
  templateBody,
  uploaded,
} from "../support/deployments.ts";
import { send } from "../support/http.ts";
import { testWithServer, type TestServer } from "../support/server.ts";
import { answerWithout, documentedRoutes, type PathIds, type Route } from "../support/tenancy.ts";
import { MISSING_ID } from "../support/uuid.ts";

/** Creates a workspace with a deployment of each source, with names that others have, too. */
async function tenant(server: TestServer) {
  const deployer = await newDeployer(server);
  const tarball = await uploaded(deployer);
  const secrets = [{ name: "A", value: "1" }];
  const made = [
    await createDeployment(deployer, templateBody("shared", { secrets })),
    await createDeployment(deployer, sourceBody("shared-source", tarball, { secrets })),
  ] as const;
  return { ...deployer, tarball, made };
}

const test = testWithServer({}, "project", { rollouts: false })
  .extend("acme", { scope: "file" }, ({ server }) => tenant(server))
  .extend("other", { scope: "file" }, ({ server }) => tenant(server));

type Tenant = Awaited<ReturnType<typeof tenant>>;

function idsOf({ made }: Tenant): PathIds {
  return { deployment_id: made[1].id, revision_id: made[1].latest_revision_id };
}

/** Returns the routes with a deployment in their path. */
async function routesOf(server: TestServer): Promise<Route[]> {
  const routes = await documentedRoutes(server);
  return routes.filter(({ path }) => path.startsWith("/v2/deployments/{"));
}

describe("another workspace", () => {
  test("finds nothing by the first one's ids", async ({ server, acme, other, expect }) => {
    const before = await acme.call("GET", "/deployments");
    const routes = await routesOf(server);
    expect(routes.length).toBeGreaterThanOrEqual(9);
    const missing = { deployment_id: MISSING_ID, revision_id: MISSING_ID };
    for (const route of routes) {
      const request = { apiKey: other.apiKey, body: {} };
      const found = await answerWithout(server, route, idsOf(acme), request);
      expect([route, found]).toEqual([route, await answerWithout(server, route, missing, request)]);
      // A webhook checks its signature first, which is missing here.
      const status = route.path.endsWith("/github-webhook") ? 401 : 404;
      expect([route, found.status]).toEqual([route, status]);
    }
    expect((await acme.call("GET", "/deployments")).body).toEqual(before.body);
    expect(await revisionsOf(acme, acme.made[1].id)).toHaveLength(1);
  });

  test("does not find the first one's revision in its own deployment", async ({
    server,
    acme,
    other,
    expect,
  }) => {
    const routes = (await routesOf(server)).filter(({ path }) => path.includes("{revision_id}"));
    expect(routes.length).toBeGreaterThanOrEqual(3);
    const own = { deployment_id: other.made[1].id };
    for (const route of routes) {
      const request = { apiKey: other.apiKey, body: {} };
      const foreign = { ...own, revision_id: acme.made[1].latest_revision_id };
      const missing = { ...own, revision_id: MISSING_ID };
      const found = await answerWithout(server, route, foreign, request);
      expect([route, found]).toEqual([route, await answerWithout(server, route, missing, request)]);
      expect([route, found.status]).toEqual([route, 404]);
    }
  });

  test("neither lists nor deletes the first one's deployments", async ({ acme, other, expect }) => {
    const ids = acme.made.map(({ id }) => id);
    for (const query of ["", `?deployment_ids=${ids.join(",")}`, "?name_contains=shared"]) {
      const { body } = await other.call("GET", `/deployments${query}`);
      const { resources } = body as { resources: DeploymentBody[] };
      const text = JSON.stringify(resources);
      for (const id of [acme.id, acme.tarball, ...ids]) expect(text).not.toContain(id);
    }
    const deleted = await other.call("DELETE", `/deployments?deployment_ids=${ids.join(",")}`);
    expect(deleted.status).toBe(404);
    for (const id of ids) {
      expect((await acme.call("GET", `/deployments/${id}`)).body).toMatchObject({
        status: "READY",
      });
    }
  });

  test("cannot deploy the first one's tarball", async ({ acme, other, expect }) => {
    for (const [method, path] of [
      ["PATCH", `/deployments/${other.made[1].id}`],
      ["POST", `/deployments/${other.made[1].id}/revisions`],
    ] as const) {
      const change = { source_revision_config: { source_tarball_path: acme.tarball } };
      const { status, body } = await other.call(method, path, change);
      const loc = ["body", "source_revision_config", "source_tarball_path"];
      expect([status, body]).toMatchObject([422, { detail: [{ loc }] }]);
    }
  });

  test("can have a deployment with the same name, at another URL", async ({
    server,
    acme,
    other,
    expect,
  }) => {
    const urls = [...acme.made, ...other.made].map(({ source_config: { custom_url } }) =>
      String(custom_url).replace(`${server.url}/deployments/`, ""),
    );
    expect(new Set(urls).size).toBe(4);
    const suffix = other.made[0].id.slice(0, 8);
    expect([urls[0], urls[2]].toSorted()).toEqual(["shared", `shared-${suffix}`].toSorted());
  });
});

test("every route except the webhook needs a key", async ({ server, acme, expect }) => {
  const routes = (await documentedRoutes(server)).filter(
    ({ path }) => path.startsWith("/v2/deployments") && !path.endsWith("/github-webhook"),
  );
  expect(routes).toHaveLength(20);
  for (const { method, path } of routes) {
    const target = path
      .replace("{deployment_id}", acme.made[0].id)
      .replace("{revision_id}", acme.made[0].latest_revision_id);
    const body = method === "POST" || method === "PATCH" ? {} : undefined;
    for (const [headers, status] of [
      [{}, 401],
      [{ "x-api-key": "wrong" }, 401],
      [{ "x-api-key": acme.apiKey, "x-tenant-id": MISSING_ID }, 403],
    ] as const) {
      const answer = await send(server, method, target, body, headers);
      expect([method, path, answer.status]).toEqual([method, path, status]);
    }
  }
});
