import type { Client } from "@langchain/langgraph-sdk";
import { SignJWT } from "jose";
import { describe } from "vitest";
import {
  type AgentIds,
  agentRoutes,
  bodyFor,
  deletionsLast,
  makeThings,
  MISSING_IDS,
  targetOf,
  withoutIds,
  routesOfRuns,
} from "../support/agent-routes.ts";
import { bearer } from "../support/bearer.ts";
import { type Deployer, type DeploymentBody, newDeployer } from "../support/deployments.ts";
import { type Answer, answerOf, send } from "../support/http.ts";
import { deployed, fixtureTarball, patched } from "../support/rollouts.ts";
import { requestsTo, testWithServer, type TestServer } from "../support/server.ts";
import { answersOnce, type Route, statusOfMissing } from "../support/tenancy.ts";

const SECRET = "the secret that tokens of these tests are signed with";

/** Returns the token of a user; `claims` determine how the handlers behave. */
async function token(sub: string, claims: object = {}, secret = SECRET): Promise<string> {
  return new SignJWT({ ...claims })
    .setProtectedHeader({ alg: "HS256" })
    .setSubject(sub)
    .setAudience("agents")
    .setExpirationTime("1h")
    .sign(new TextEncoder().encode(secret));
}

async function as(sub: string, claims: object = {}, secret = SECRET) {
  return bearer(await token(sub, claims, secret));
}

function agentOf(server: TestServer, { id }: DeploymentBody): TestServer {
  return { ...server, ...requestsTo(`${server.url}/deployments/${id}`), fetch: below(server, id) };
}

/** Sends requests to the agent server of a deployment, by their paths there. */
function below(server: TestServer, id: string): TestServer["fetch"] {
  return (path, init) => server.fetch(`/deployments/${id}${path}`, init);
}

async function clientOf(agent: TestServer, sub: string, claims: object = {}): Promise<Client> {
  return agent.client({ headers: await as(sub, claims) });
}

function ask(
  agent: TestServer,
  route: Route,
  ids: AgentIds,
  headers: Record<string, string>,
): Promise<Answer> {
  return send(agent, route.method, targetOf(route, ids), bodyFor(route, ids), headers);
}

async function deploy(deployer: Deployer, name: string, secrets: Record<string, string> = {}) {
  const values = { JWT_SECRET: SECRET, ...secrets };
  const { deployment, revision } = await deployed(
    deployer,
    name,
    await fixtureTarball("deployed-auth"),
    { secrets: Object.entries(values).map(([key, value]) => ({ name: key, value })) },
  );
  if (revision.status !== "DEPLOYED") throw new Error(revision.status_message ?? "");
  return deployment;
}

const test = testWithServer({ AGENT_AUTH: "api-key" })
  .extend("deployer", { scope: "file" }, ({ server }) => newDeployer(server, "plus"))
  .extend("deployment", { scope: "file" }, ({ deployer }) => deploy(deployer, "guarded"))
  .extend("agent", ({ server, deployment }) => agentOf(server, deployment))
  .extend("routes", { scope: "file" }, ({ server }) => agentRoutes(server));

describe("every route of a deployment with users of its own", () => {
  test("refuses a caller without a token", async ({ agent, routes, deployer, expect }) => {
    expect(routes.length).toBeGreaterThan(35);
    const nobody = [
      {},
      { "x-api-key": deployer.apiKey },
      bearer(deployer.apiKey),
      await as("first", {}, `${SECRET} of somebody else's`),
      bearer(`${await token("first")}x`),
    ];
    await Promise.all(
      routes.flatMap((route) =>
        nobody.map(async (headers) => {
          const { status } = await ask(agent, route, MISSING_IDS, headers);
          expect([route, status]).toEqual([route, 401]);
        }),
      ),
    );
  });

  test("answers the owner, and treats resources as missing for another user", async ({
    agent,
    routes,
    expect,
  }) => {
    const owner = await clientOf(agent, "owner");
    const ids = await makeThings(owner);
    const before = await owner.threads.get(ids.thread_id);
    const [first, second] = [await as("owner"), await as("other")];
    const withIds = routes.filter((route) => route.path.includes("{") && answersOnce(route));
    for (const route of withIds) {
      const [theirs, nothing] = [
        withoutIds(await ask(agent, route, ids, second), ids),
        withoutIds(await ask(agent, route, MISSING_IDS, second), ids),
      ];
      expect([route, theirs]).toEqual([route, nothing]);
      expect([route, theirs.status]).toEqual([route, statusOfMissing(route)]);
    }
    expect(await owner.threads.get(ids.thread_id)).toEqual(before);
    const isEndless = (path: string) => path === "/threads/{thread_id}/stream";
    const own = withIds.filter(
      ({ path }) => !path.startsWith("/runs/{run_id}") && !isEndless(path),
    );
    for (const route of deletionsLast(own)) {
      const { status } = await ask(agent, route, ids, first);
      expect([route, Math.floor(status / 100)]).toEqual([route, 2]);
    }
  });

  test("does not show another user's resources in lists, counts and searches", async ({
    agent,
    routes,
    expect,
  }) => {
    const ids = await makeThings(await clientOf(agent, "lister"));
    const listing = routes.filter(({ path }) =>
      /^\/(threads|assistants)\/(search|count)$/.test(path),
    );
    expect(listing).toHaveLength(4);
    for (const route of listing) {
      const own = await ask(agent, route, ids, await as("lister"));
      expect([route, own.body]).toEqual([
        route,
        route.path.endsWith("count") ? 1 : [expect.anything()],
      ]);
      for (const filter of [{}, { metadata: { owner: "lister" } }]) {
        const other = await send(agent, "POST", route.path, filter, await as("seeker"));
        expect([route, other.body]).toEqual([route, route.path.endsWith("count") ? 0 : []]);
        expect(other.headers.get("x-pagination-total") ?? "0").toBe("0");
      }
    }
  });

  test("lets no user follow or stop another user's run", async ({ agent, expect }) => {
    const client = await clientOf(agent, "flyer");
    const hunter = await as("hunter");
    const { thread_id } = await client.threads.create();
    const input = { steps: 100_000, delay_ms: 100 };
    const threaded = await client.runs.create(thread_id, "slow", { input });
    const stateless = await client.runs.create(null, "slow", { input });
    for (const [method, path] of routesOfRuns(threaded, stateless)) {
      const { status } = await send(agent, method, path, undefined, hunter);
      expect([path, status]).toEqual([path, 404]);
    }
    for (const run of [threaded, stateless]) {
      expect(["pending", "running"]).toContain(
        (await client.runs.get(run.thread_id, run.run_id)).status,
      );
      await client.runs.cancel(run.thread_id, run.run_id, true);
    }
  });

  test.for(["throws", "nonsense", "hangs"])(
    "reveals nothing when a handler %s",
    async (does, { agent, routes, expect }) => {
      const ids = await makeThings(await clientOf(agent, `victim of ${does}`));
      const failing = [await as("other", { does }), await as("other", { login: does })];
      const failed = { status: 500, body: { detail: "Internal server error" } };
      // The requests are concurrent, as each one that hangs waits some seconds.
      await Promise.all(
        failing.flatMap((headers) =>
          routes.map(async (route) => {
            const answer = await answerOf(ask(agent, route, ids, headers));
            expect([route, answer]).toEqual([route, failed]);
          }),
        ),
      );
    },
  );
});

describe("a Studio user", () => {
  test("must have a key of the deployment's workspace", async ({
    server,
    agent,
    routes,
    deployer,
    expect,
  }) => {
    const ids = await makeThings(await clientOf(agent, "studied"));
    const studio = { "x-auth-scheme": "langsmith", "x-api-key": deployer.apiKey };
    const own = await send(agent, "GET", `/threads/${ids.thread_id}`, undefined, studio);
    expect(own.status).toBe(404);
    const { apiKey } = await newDeployer(server, "plus");
    for (const route of routes) {
      const answers = [
        await ask(agent, route, ids, { ...studio, "x-api-key": apiKey }),
        await ask(agent, route, ids, { ...studio, "x-api-key": "tw_x" }),
        await ask(agent, route, ids, { ...(await as("studied")), "x-auth-scheme": "langsmith" }),
      ];
      expect([route, ...answers.map(({ status }) => status)]).toEqual([route, 403, 401, 401]);
    }
  });
});

describe("the same user", () => {
  test("has no resources in another deployment, nor in the built-in project", async ({
    server,
    deployer,
    agent,
    routes,
    expect,
  }) => {
    const twin = agentOf(server, await deploy(deployer, "twin"));
    const ids = await makeThings(await clientOf(agent, "traveller"));
    const user = await as("traveller");
    for (const route of routes.filter((each) => each.path.includes("{") && answersOnce(each))) {
      const { status } = await ask(twin, route, ids, user);
      expect([route, status]).toEqual([route, statusOfMissing(route)]);
      const builtIn = await ask(server, route, ids, { "x-api-key": deployer.apiKey });
      expect([route, builtIn.status]).toEqual([route, statusOfMissing(route)]);
    }
    expect(await (await clientOf(twin, "traveller")).threads.count()).toBe(0);
  });

  test("is verified with the secret of the revision that serves", async ({
    server,
    deployer,
    expect,
  }) => {
    const deployment = await deploy(deployer, "rotating");
    const agent = agentOf(server, deployment);
    const status = async (secret: string) =>
      (await send(agent, "POST", "/threads/count", {}, await as("user", {}, secret))).status;
    const next = "another secret, of the revision that comes next";
    const ids = await makeThings(await clientOf(agent, "user"));
    expect([await status(SECRET), await status(next)]).toEqual([200, 401]);
    const secrets = [{ name: "JWT_SECRET", value: next }];
    expect((await patched(deployer, deployment.id, { secrets })).status).toBe("DEPLOYED");
    expect([await status(SECRET), await status(next)]).toEqual([401, 200]);
    const kept = agent.client({ headers: await as("user", {}, next) });
    expect((await kept.threads.get(ids.thread_id)).metadata).toMatchObject({ owner: "user" });
  });
});

test("without authorisation handlers, every user with a token has access to everything, and nobody else", async ({
  server,
  deployer,
  routes,
  expect,
}) => {
  const agent = agentOf(server, await deploy(deployer, "unhandled", { HANDLERS: "off" }));
  const ids = await makeThings(await clientOf(agent, "first"));
  const second = await clientOf(agent, "second");
  expect((await second.threads.get(ids.thread_id)).thread_id).toBe(ids.thread_id);
  expect(await second.threads.count()).toBe(1);
  for (const route of routes) {
    expect([route, (await ask(agent, route, ids, {})).status]).toEqual([route, 401]);
  }
});
