import { addPrivateEndpoint } from "../../cli/database/private-endpoints.ts";
import { askHost } from "./ask-host.ts";
import type { Answer } from "./http.ts";
import type { TestServer } from "./server.ts";
import { runData } from "./trace-data.ts";
import { makeWorkspace } from "./workspaces.ts";

/** Variables of a server that has hosts, and thus private ones. */
export const HOST_VARS = {
  API_HOST: "api.test",
  CONTROL_PLANE_HOST: "control.test",
  AGENTS_DOMAIN: "agents.test",
};

export type Network = "public" | "private";

/** Returns the public host of a path's surface, or its private counterpart. */
export function hostOf(path: string, network: Network): string {
  const host = path.startsWith("/api/")
    ? HOST_VARS.API_HOST
    : /^\/(v2|v1\/(?:projects|integrations))\//.test(path)
      ? HOST_VARS.CONTROL_PLANE_HOST
      : HOST_VARS.AGENTS_DOMAIN;
  return network === "public" ? host : `us.p.${host}`;
}

export type Tenant = {
  id: string;
  apiKey: string;
  /** Sends a request to the host of the path's surface. */
  ask: (
    network: Network,
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ) => Promise<Answer>;
};

/** Creates a workspace of the plan enterprise. It is enrolled with the options, or not at all if they are null. */
export async function newTenant(
  server: TestServer,
  name: string,
  endpoint: { privateOnly?: boolean; networks?: string[] } | null,
): Promise<Tenant> {
  const { id, apiKey } = await makeWorkspace(server, name);
  if (endpoint !== null) {
    const { privateOnly = false, networks = [] } = endpoint;
    await addPrivateEndpoint(server.database, id, { privateOnly, networks });
  }
  return {
    id,
    apiKey,
    ask: (network, method, path, body, headers = {}) =>
      askHost(server, hostOf(path, network), path, {
        method,
        body,
        headers: { "x-api-key": apiKey, ...headers },
      }),
  };
}

/** Returns the paths that lead to a workspace's resources without a key. */
export async function linksOf(
  server: TestServer,
  tenant: Tenant,
  network: Network,
): Promise<Record<string, string>> {
  const run = runData("linked", { inputs: { text: "x".repeat(100_000) } });
  const authId = crypto.randomUUID();
  const ok = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const answer = await tenant.ask(network, method, `/api/v1${path}`, body);
    if (answer.status >= 300) throw new Error(`${path}: ${JSON.stringify(answer)}`);
    return answer.body;
  };
  await ok("POST", "/runs", run);
  const share = (await ok("PUT", `/runs/${run.id}/share`, {})) as { share_token: string };
  const given = await ok("POST", "/feedback/tokens", { run_id: run.id, feedback_key: "liked" });
  const feedback = new URL((given as { url: string }).url).pathname;
  const read = (await ok("POST", "/runs/query", { id: [run.id], select: ["inputs_s3_urls"] })) as {
    runs: [{ inputs_s3_urls: { ROOT: { presigned_url: string } } }];
  };
  const payload = read.runs[0].inputs_s3_urls.ROOT.presigned_url;
  await server.database.run(
    `INSERT INTO oauth_attempts (auth_id, workspace_id, provider, user_id, scopes, is_default,
       redirect_uri, status, created_at, expires_at)
     VALUES (?, ?, 'none', 'ada', '[]', 0, 'https://control.test', 'pending', 1, ?)`,
    [authId, tenant.id, Date.now() + 600_000],
  );
  return {
    "a shared run": `/api/v1/public/${share.share_token}/run`,
    "the runs below it": `/api/v1/public/${share.share_token}/runs`,
    "a run of the shared trace": `/api/v2/public/${share.share_token}/run/${run.id}`,
    "a feedback link": `${feedback}?score=1`,
    "a payload": new URL(payload).pathname,
    "the end of an attempt": `/v2/auth/done?status=failed&auth_id=${authId}`,
    // These come last, as they use the attempt up.
    "an OAuth callback": `/v2/auth/callback/none?state=${authId}&error=access_denied`,
    "a setup of GitHub": `/v2/auth/setup/none?state=${authId}&error=access_denied`,
  };
}
