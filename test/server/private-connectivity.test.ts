import { describe } from "vitest";
import { setWorkspacePlan } from "../../cli/database/identity.ts";
import { askHost } from "../support/ask-host.ts";
import type { Answer } from "../support/http.ts";
import { templateBody } from "../support/deployments.ts";
import { PUSH_SECRET_VALUE, PUSH_SECRETS, signatureOf } from "../support/github-webhook.ts";
import {
  HOST_VARS,
  hostOf,
  linksOf,
  newTenant,
  type Network,
  type Tenant,
} from "../support/private-hosts.ts";
import { testWithServer, type TestServer } from "../support/server.ts";
import { documentedRoutes, fill, type PathIds, type Route } from "../support/tenancy.ts";
import { MISSING_ID } from "../support/uuid.ts";

const test = testWithServer({ AGENT_AUTH: "api-key", ...HOST_VARS })
  .extend("enrolled", { scope: "file" }, ({ server }) => newTenant(server, "enrolled", {}))
  .extend("outsider", { scope: "file" }, ({ server }) => newTenant(server, "outsider", null))
  .extend("recluse", { scope: "file" }, ({ server }) =>
    newTenant(server, "recluse", { privateOnly: true }),
  );

/** Pages that are documented beside the routes, and paths that do not exist. */
const PAGES = [
  "/docs",
  "/docs/plain",
  "/openapi.json",
  "/api/v1/nothing",
  "/v2/nothing",
  "/nothing",
];

const NOT_ENROLLED =
  /^This workspace is not enrolled for private connectivity: use https:\/\/\w+\.test$/;
const PRIVATE_ONLY =
  /^This workspace is served on private hosts only: use https:\/\/us\.p\.\w+\.test$/;

const IDS = new Proxy<PathIds>({}, { get: () => MISSING_ID });

async function routes(server: TestServer): Promise<Route[]> {
  const pages = PAGES.map((path) => ({ method: "GET", path }));
  const { body } = await askHost(server, HOST_VARS.AGENTS_DOMAIN, "/openapi.json");
  return [...(await documentedRoutes({ fetch: async () => Response.json(body) })), ...pages];
}

/** Sends a body that no route accepts, so that nothing is created. */
function askRoute(tenant: Tenant, network: Network, { method, path }: Route) {
  const body = method === "GET" || method === "DELETE" ? undefined : { unknown: true };
  return tenant.ask(network, method, fill(path, IDS), body);
}

const isHealthCheck = (path: string) => path === "/ok" || path === "/api/v1/ok";

/**
 * Routes without a key, which identify the workspace by other parameters; with unknown ones they belong to no
 * workspace.
 */
const isKeyless = (path: string) =>
  /^\/api\/v[12]\/(public|feedback\/tokens)\/.|^\/v2\/auth\/(callback|setup|done)|\/github-webhook$/.test(
    path,
  );

const isGeneral = (path: string) =>
  /^(\/api\/v1)?\/info$|^\/docs|^\/openapi\.json$/.test(path) || isHealthCheck(path);

const detailOf = (body: unknown) => (body as { detail?: unknown }).detail;

const refusalOf = ({ status, body }: Answer) => [status, String(detailOf(body))];

describe("on private hosts", () => {
  test("health checks answer without a key", async ({ server, expect }) => {
    for (const host of Object.values(HOST_VARS)) {
      const answer = await askHost(server, `us.p.${host}`, "/ok");
      expect(answer).toMatchObject({ status: 200, body: { ok: true } });
    }
  });

  test("other requests need a key", async ({ server, expect }) => {
    for (const { method, path } of await routes(server)) {
      if (isHealthCheck(path)) continue;
      const target = fill(path, IDS);
      const { status } = await askHost(server, hostOf(path, "private"), target, { method });
      expect([method, path, status >= 400 && status < 500]).toEqual([method, path, true]);
    }
  });

  test("a workspace that is not enrolled is refused", async ({ server, outsider, expect }) => {
    for (const route of await routes(server)) {
      if (isHealthCheck(route.path) || (isKeyless(route.path) && route.method !== "POST")) continue;
      const { status, body } = await askRoute(outsider, "private", route);
      if (isKeyless(route.path)) expect([route, status >= 400]).toEqual([route, true]);
      else {
        expect([route, status]).toEqual([route, 403]);
        expect(String(detailOf(body))).toMatch(NOT_ENROLLED);
      }
    }
  });

  test("an enrolled workspace is served, also on the public hosts", async ({
    server,
    enrolled,
    expect,
  }) => {
    for (const route of await routes(server)) {
      for (const network of ["public", "private"] as const) {
        if (isKeyless(route.path)) continue;
        const { status } = await askRoute(enrolled, network, route);
        expect([route, network, status === 401 || status === 403]).toEqual([route, network, false]);
      }
    }
  });

  test("the plan must still be Enterprise", async ({ server, expect }) => {
    const tenant = await newTenant(server, "downgraded", {});
    await setWorkspacePlan(server.database, tenant.id, "plus");
    expect(await tenant.ask("private", "GET", "/api/v1/sessions")).toMatchObject({
      status: 403,
      body: { detail: "Private connectivity needs the plan Enterprise" },
    });
    expect((await tenant.ask("public", "GET", "/api/v1/sessions")).status).toBe(200);
  });

  test("requests must come from the workspace's networks, if it has named any", async ({
    server,
    expect,
  }) => {
    const tenant = await newTenant(server, "networks", { networks: ["192.0.2.0/28"] });
    const from = async (address: string) => {
      const headers = { "cf-connecting-ip": address };
      return tenant.ask("private", "GET", "/api/v1/sessions", undefined, headers);
    };
    expect((await from("192.0.2.7")).status).toBe(200);
    expect(await from("192.0.2.77")).toMatchObject({
      status: 403,
      body: {
        detail: "This workspace is not served to the address that the request comes from",
      },
    });
    expect((await tenant.ask("public", "GET", "/api/v1/sessions")).status).toBe(200);
  });

  test("paths of the tracing API may omit its prefix", async ({ enrolled, server, expect }) => {
    const headers = { "x-api-key": "nonsense" };
    const answer = await askHost(server, "us.p.api.test", "/sessions", { headers });
    expect(answer.status).toBe(401);
    expect((await enrolled.ask("private", "GET", "/api/v1/info")).status).toBe(200);
  });

  test("only hosts of the installation's own region are served", async ({ server, expect }) => {
    for (const host of ["eu.p.api.test", "p.api.test", "us.p.p.api.test"]) {
      const { status } = await askHost(server, host, "/api/v1/info");
      expect([host, status]).toEqual([host, 404]);
    }
  });
});

describe("on public hosts", () => {
  test("a private-only workspace is refused, with the host to use", async ({
    server,
    recluse,
    expect,
  }) => {
    for (const route of await routes(server)) {
      if (isGeneral(route.path) || isKeyless(route.path)) continue;
      const { status, body } = await askRoute(recluse, "public", route);
      expect([route, status]).toEqual([route, 403]);
      expect(String(detailOf(body))).toMatch(PRIVATE_ONLY);
    }
  });

  test("a private-only workspace is served on the private hosts", async ({ recluse, expect }) => {
    const answer = await recluse.ask("private", "POST", "/threads", {});
    expect(answer.status).toBe(200);
    expect((await recluse.ask("private", "GET", "/v2/auth/providers")).status).toBe(200);
  });
});

describe("a request without a key", () => {
  test("is refused on the public hosts when the workspace is private-only", async ({
    server,
    recluse,
    expect,
  }) => {
    for (const [name, path] of Object.entries(await linksOf(server, recluse, "private"))) {
      const publicly = await askHost(server, hostOf(path, "public"), path);
      expect([name, publicly.status]).toEqual([name, 403]);
      expect(String(detailOf(publicly.body))).toMatch(PRIVATE_ONLY);
      const privately = await askHost(server, hostOf(path, "private"), path);
      expect([name, privately.status < 400]).toEqual([name, true]);
    }
  });

  test("stores no upload where the workspace is not served", async ({
    server,
    recluse,
    outsider,
    expect,
  }) => {
    const upload = async (tenant: Tenant, served: Network, asked: Network) => {
      const { body } = await tenant.ask(served, "POST", "/v2/deployments/upload-url", {});
      const path = new URL((body as { upload_url: string }).upload_url).pathname;
      return askHost(server, hostOf(path, asked), path, { method: "PUT", body: "a tarball" });
    };
    // The request is let in, and its tarball is invalid.
    expect((await upload(recluse, "private", "private")).status).toBe(400);
    expect((await upload(outsider, "public", "public")).status).toBe(400);
    const publicly = await upload(recluse, "private", "public");
    expect(refusalOf(publicly)).toEqual([403, expect.stringMatching(PRIVATE_ONLY)]);
    const privately = await upload(outsider, "public", "private");
    expect(refusalOf(privately)).toEqual([403, expect.stringMatching(NOT_ENROLLED)]);
  });

  test("delivers no GitHub event where the workspace is not served", async ({
    server,
    recluse,
    outsider,
    expect,
  }) => {
    const ping = async (tenant: Tenant, served: Network, asked: Network) => {
      const given = templateBody(`on-${asked}-hosts`, { secrets: PUSH_SECRETS });
      const { body } = await tenant.ask(served, "POST", "/v2/deployments", given);
      const path = `/v2/deployments/${(body as { id: string }).id}/github-webhook`;
      const headers = {
        "x-github-event": "ping",
        "x-hub-signature-256": signatureOf(PUSH_SECRET_VALUE, "{}"),
      };
      return askHost(server, hostOf(path, asked), path, { method: "POST", body: {}, headers });
    };
    expect((await ping(recluse, "private", "private")).status).toBe(200);
    expect((await ping(outsider, "public", "public")).status).toBe(200);
    const publicly = await ping(recluse, "private", "public");
    expect(refusalOf(publicly)).toEqual([403, expect.stringMatching(PRIVATE_ONLY)]);
    const privately = await ping(outsider, "public", "private");
    expect(refusalOf(privately)).toEqual([403, expect.stringMatching(NOT_ENROLLED)]);
  });

  test("is refused on the private hosts when the workspace is not enrolled", async ({
    server,
    outsider,
    expect,
  }) => {
    for (const [name, path] of Object.entries(await linksOf(server, outsider, "public"))) {
      const privately = await askHost(server, hostOf(path, "private"), path);
      expect([name, privately.status]).toEqual([name, 403]);
      expect(String(detailOf(privately.body))).toMatch(NOT_ENROLLED);
      const publicly = await askHost(server, hostOf(path, "public"), path);
      expect([name, publicly.status < 400]).toEqual([name, true]);
    }
  });
});
