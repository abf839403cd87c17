import { request } from "node:http";
import { describe } from "vitest";
import { newDeployer } from "../support/deployments.ts";
import { deployed, fixtureTarball } from "../support/rollouts.ts";
import { testWithServer, type TestServer } from "../support/server.ts";

type Request = { host: string; path: string; apiKey: string; method?: string };

/** Sends a request with its path and host unchanged. */
async function ask(
  server: TestServer,
  { host, path, apiKey, method = "GET" }: Request,
): Promise<{ status: number | undefined; text: string }> {
  const { hostname, port } = new URL(server.url);
  const headers = { host, "x-api-key": apiKey };
  const answer = Promise.withResolvers<{ status: number | undefined; text: string }>();
  request({ hostname, port, path, method, headers }, (response) => {
    const chunks: Buffer[] = [];
    response.on("data", (chunk: Buffer) => chunks.push(chunk));
    response.on("end", () =>
      answer.resolve({ status: response.statusCode, text: Buffer.concat(chunks).toString() }),
    );
  })
    .on("error", answer.reject)
    .end();
  return answer.promise;
}

const test = testWithServer({
  AGENT_AUTH: "api-key",
  AGENTS_DOMAIN: "agents.test",
  API_HOST: "api.test",
  CONTROL_PLANE_HOST: "127.0.0.1",
})
  .extend("tarball", { scope: "file" }, () => fixtureTarball("deployed"))
  .extend("mine", { scope: "file" }, async ({ server, tarball }) => {
    const deployer = await newDeployer(server, "plus");
    await deployed(deployer, "mine", tarball);
    return deployer;
  })
  .extend("theirs", { scope: "file" }, async ({ server, tarball }) => {
    const deployer = await newDeployer(server, "plus");
    const { deployment } = await deployed(deployer, "theirs", tarball);
    const { apiKey } = deployer;
    const path = "/threads";
    const host = "theirs.agents.test";
    const { text } = await ask(server, { host, path, apiKey, method: "POST" });
    const { thread_id } = JSON.parse(text) as { thread_id: string };
    return { apiKey, id: deployment.id, thread: `/threads/${thread_id}` };
  });

describe("a deployment's address", () => {
  test("is its host, or a path with its name or id in any case", async ({
    server,
    theirs,
    expect,
  }) => {
    const { apiKey, id, thread } = theirs;
    for (const [host, path] of [
      ["theirs.agents.test", thread],
      ["THEIRS.Agents.Test", thread],
      ["agents.test", `/deployments/theirs${thread}`],
      ["agents.test", `/deployments/${id.toUpperCase()}${thread}`],
    ] as const) {
      const { status } = await ask(server, { host, path, apiKey });
      expect([host, path, status]).toEqual([host, path, 200]);
    }
  });

  test("gives no access to a key of another workspace, however it is written", async ({
    server,
    mine,
    theirs,
    expect,
  }) => {
    const { thread, id } = theirs;
    for (const [host, path] of [
      ["theirs.agents.test", thread],
      ["THEIRS.agents.test", thread],
      ["theirs.agents.test", `/deployments/mine${thread}`],
      ["mine.agents.test", thread],
      ["mine.agents.test", `/deployments/theirs${thread}`],
      ["mine.agents.test", `/deployments/${id}${thread}`],
      ["x.theirs.agents.test", thread],
      ["theirs.mine.agents.test", thread],
      ["agents.test", thread],
      ["agents.test", `/deployments/theirs${thread}`],
      ["agents.test", `/deployments/THEIRS${thread}`],
      ["agents.test", `/deployments/${id}${thread}/`],
      ["agents.test", `/deployments/theirs/${thread}`],
      ["agents.test", `//deployments/theirs${thread}`],
      ["agents.test", `/DEPLOYMENTS/theirs${thread}`],
      ["agents.test", `/deployments/%74heirs${thread}`],
      ["agents.test", `/%64eployments/theirs${thread}`],
      ["agents.test", `/deployments/mine/deployments/theirs${thread}`],
      ["agents.test", `/deployments/mine/../theirs${thread}`],
      ["agents.test", `/deployments/mine/%2e%2e/theirs${thread}`],
      ["agents.test", `/deployments/mine/..%2ftheirs${thread}`],
      ["agents.test", `/deployments/mine\\..\\theirs${thread}`],
      ["agents.test", `/deployments/mine%00theirs${thread}`],
      ["agents.test", `/deployments/' OR slug='theirs${thread}`.replaceAll(" ", "%20")],
      ["agents.test", `/deployments/theirs%20${thread}`],
    ] as const) {
      const { status } = await ask(server, { host, path, apiKey: mine.apiKey });
      expect([host, path, status]).toEqual([host, path, 404]);
    }
  });

  test("leads to no other surface", async ({ server, mine, expect }) => {
    const { apiKey } = mine;
    const control = await ask(server, { host: "127.0.0.1", path: "/v2/deployments", apiKey });
    const tracing = await ask(server, { host: "api.test", path: "/api/v1/sessions", apiKey });
    expect([control.status, tracing.status]).toEqual([200, 200]);
    const paths = [
      "/v2/deployments",
      "/V2/deployments",
      "//v2/deployments",
      "/%76%32/deployments",
      "/x/../v2/deployments",
      "/x/%2e%2e/v2/deployments",
      "/v2",
      "/v2/",
      "/v1/projects/1/deploy_logs",
      "/api/v1/sessions",
      "/api/v1/bulk-exports",
      "//api/v1/sessions",
      "/api/v2/sessions",
      "/otel/v1/traces",
      "/sessions",
    ];
    for (const path of paths) {
      for (const [host, prefix] of [
        ["mine.agents.test", ""],
        ["agents.test", "/deployments/mine"],
        ["agents.test", "/deployments/mine/deployments/mine"],
        ["agents.test", ""],
      ] as const) {
        const { status } = await ask(server, { host, path: `${prefix}${path}`, apiKey });
        expect([host, prefix, path, status]).toEqual([host, prefix, path, 404]);
      }
    }
  });
});
