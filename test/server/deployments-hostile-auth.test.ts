import { readFileSync } from "node:fs";
import { describe } from "vitest";
import { bearer } from "../support/bearer.ts";
import { type Deployer, newDeployer } from "../support/deployments.ts";
import { answerOf, send } from "../support/http.ts";
import { deployed, moduleTarball } from "../support/rollouts.ts";
import { testWithServer, type TestServer } from "../support/server.ts";

const HOSTILE = readFileSync(new URL("../fixtures/hostile-auth.js", import.meta.url), "utf8");

const USER = { identity: "u", display_name: "u", is_authenticated: true, permissions: [] };

const test = testWithServer({ AGENT_AUTH: "api-key", DEPLOYED_CALL_SECONDS: "10" })
  .extend("deployer", { scope: "file" }, ({ server }) => newDeployer(server, "plus"))
  .extend("hostile", { scope: "file" }, ({ deployer }) => deploy(deployer, "hostile", "same"));

async function deploy(deployer: Deployer, name: string, later: string): Promise<string> {
  const secrets = [{ name: "LATER", value: later }];
  const { deployment, revision } = await deployed(deployer, name, await moduleTarball(HOSTILE), {
    secrets,
  });
  if (revision.status !== "DEPLOYED") throw new Error(revision.status_message ?? "");
  return deployment.id;
}

function count(server: TestServer, id: string, authentication: unknown) {
  const headers = { "x-authentication": JSON.stringify(authentication) };
  return answerOf(send(server, "POST", `/deployments/${id}/threads/count`, {}, headers));
}

const allowed = (leave: unknown) => ({
  ok: true,
  principal: { user: { ...USER, leave }, permissions: [] },
});

describe("a deployment with arbitrary authentication answers", () => {
  test("decides which callers have access", async ({ server, hostile, expect }) => {
    const leave = { ok: true, filter: null, metadata: {} };
    expect(await count(server, hostile, allowed(leave))).toEqual({ status: 200, body: 0 });
    const refusal = { ok: false, status: 402, detail: "Pay", headers: [] };
    const refused = { status: 402, body: { detail: "Pay" } };
    expect(await count(server, hostile, refusal)).toEqual(refused);
    expect(await count(server, hostile, allowed(refusal))).toEqual(refused);
  });

  test.for([
    null,
    { ok: true },
    { ok: true, principal: { user: {}, permissions: [] } },
    { ok: false, status: 200, detail: "fine", headers: [] },
    { ok: false, status: 7, detail: "fine", headers: [] },
    allowed(null),
    allowed({ ok: true }),
    allowed({ ok: true, filter: "all" }),
    allowed({ ok: false, status: 201, detail: "fine", headers: [] }),
  ])(
    "lets nobody in with an invalid answer: %j",
    async (authentication, { server, hostile, expect }) => {
      expect(await count(server, hostile, authentication)).toMatchObject({
        status: 500,
        body: { detail: "Internal server error" },
      });
    },
  );

  test.for([
    '{"ok":true,"filter":{"__proto__":{"$eq":"x"}},"metadata":{}}',
    '{"ok":true,"filter":{"$or":[{"__proto__":"x"}]},"metadata":{}}',
  ])(
    "shows nothing with a filter that cannot be stored: %s",
    async (text, { server, hostile, expect }) => {
      const leave = `"leave":${text}`;
      const authentication = JSON.stringify(allowed(0)).replace('"leave":0', leave);
      const headers = { "x-authentication": authentication };
      const path = `/deployments/${hostile}/threads/search`;
      expect(await answerOf(send(server, "POST", path, {}, headers))).toMatchObject({
        status: 500,
      });
    },
  );

  test("cannot set response headers that browsers or proxies obey", async ({
    server,
    hostile,
    expect,
  }) => {
    const names = ["set-cookie", "clear-site-data", "location", "access-control-allow-origin"];
    const headers = [...names, "x-own", "retry-after"].map((name) => ({ name, value: "7" }));
    const refusal = { ok: false, status: 402, detail: "Pay", headers };
    const { headers: answered } = await send(
      server,
      "POST",
      `/deployments/${hostile}/threads/count`,
      {},
      { "x-authentication": JSON.stringify(refusal) },
    );
    expect(names.map((name) => answered.get(name))).toEqual([null, null, null, "*"]);
    expect([answered.get("x-own"), answered.get("retry-after")]).toEqual(["7", "7"]);
  });

  test("does not serve when its description becomes invalid", async ({
    server,
    deployer,
    expect,
  }) => {
    const id = await deploy(deployer, "later", "nonsense");
    const leave = { ok: true, filter: null, metadata: {} };
    const answer = await count(server, id, allowed(leave));
    expect([answer.status, JSON.stringify(answer.body)]).toEqual([
      503,
      expect.stringContaining("describes itself wrongly at graphs"),
    ]);
    const sql = "SELECT count(*) AS n FROM assistants WHERE deployment_id = ?";
    expect(await server.database.run(sql, [id])).toEqual([{ n: 0 }]);
  });

  test("delays no request for longer than a call may take", async ({
    server,
    deployer,
    hostile,
    expect,
  }) => {
    const silent = await deploy(deployer, "silent", "hangs");
    const leave = { ok: true, filter: null, metadata: {} };
    const headers = { "x-authentication": JSON.stringify(allowed(leave)) };
    const get = (path: string) =>
      answerOf(send(server, "GET", `/deployments/${hostile}${path}`, undefined, headers));
    const hanging = { "x-hang": "yes" };
    const answers = await Promise.all([
      answerOf(send(server, "POST", `/deployments/${hostile}/threads/count`, {}, hanging)),
      count(server, hostile, allowed("hangs")),
      count(server, silent, allowed(leave)),
      get("/assistants/g0/graph"),
      get("/assistants/g0/subgraphs"),
    ]);
    const late = (what: string) => ({
      status: 504,
      body: { detail: `The project's code did not ${what} within 10 seconds` },
    });
    expect(answers).toEqual([
      late("authenticate the request"),
      late("authorize the request"),
      late("describe itself"),
      late("draw the graph"),
      late("return the graph's subgraphs"),
    ]);
  });

  test("sees no key of the platform", async ({ server, deployer, hostile, expect }) => {
    const stranger = await newDeployer(server, "plus");
    const told = async (headers: Record<string, string>) => {
      const path = `/deployments/${hostile}/threads/count`;
      const { body } = await send(server, "POST", path, {}, { "x-tell": "all", ...headers });
      return (body as { detail: string }).detail;
    };
    for (const { apiKey } of [deployer, stranger]) {
      for (const headers of [{ "x-api-key": apiKey }, bearer(apiKey)]) {
        expect(await told(headers)).not.toContain(apiKey);
      }
      const both = await told({ "x-api-key": apiKey, ...bearer("of the project") });
      expect(both).not.toContain(apiKey);
      expect(both).toContain("of the project");
      for (const headers of [
        { "x-api-key": `${apiKey}, ${apiKey}` },
        { "x-api-key": `"${apiKey}"` },
        { authorization: `Token ${apiKey}` },
        { authorization: `Bearer Bearer ${apiKey}` },
        { authorization: `Bearer\t${apiKey}` },
        { authorization: `Basic ${btoa(`user:${apiKey}`)}` },
        { cookie: `key=${apiKey}; theme=of the project` },
      ]) {
        const seen = await told(headers);
        expect(seen).not.toContain(apiKey);
        expect(seen).not.toContain(btoa(`user:${apiKey}`));
        expect(seen.includes("theme=of the project")).toBe("cookie" in headers);
      }
    }
    expect(await told({ "x-api-key": "of the project" })).toContain("of the project");
  });
});
