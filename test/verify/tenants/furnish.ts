import { setTimeout as sleep } from "node:timers/promises";
import type { LocalS3 } from "../../../cli/platform/local-s3.ts";
import { destinationBody } from "../../support/destinations.ts";
import { runData } from "../../support/trace-data.ts";
import type { Target } from "../part.ts";

const PROJECT = "furnished";
const ROLLOUT_TIMEOUT_MS = 120_000;
const POLL_MS = 50;

/** Ids of a workspace's resources, by their names in paths and bodies. */
export type Ids = Record<string, string>;

export type Furnished = {
  target: Target;
  /** Ids of tracing, exports, deployments and OAuth. */
  ids: Ids;
  /** Ids of the agent server of the workspace's deployment. */
  agentIds: Ids;
  /** The path of that agent server. */
  agentPath: string;
};

/** Creates one resource of each kind in an empty workspace, by the API alone. */
export async function furnish(target: Target, s3: LocalS3): Promise<Furnished> {
  const call = caller(target);
  const ids = { ...(await traces(call)), ...(await platformThings(call, s3)) };
  const exportIds = await exported(call, ids);
  const { deploymentId, agentPath } = await deployed(call);
  Object.assign(ids, exportIds, deploymentId);
  const agent = caller({ ...target, url: target.url + agentPath });
  return { target, ids, agentIds: await agentThings(agent), agentPath };
}

type Call = (method: string, path: string, body?: unknown) => Promise<Record<string, unknown>>;

/** Returns a function that sends requests, which must succeed. */
function caller({ url, apiKey }: Target): Call {
  return async (method, path, body) => {
    const response = await fetch(url + path, {
      method,
      headers: { "x-api-key": apiKey, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} gave ${response.status}: ${text}`);
    return text === "" ? {} : (JSON.parse(text) as Record<string, unknown>);
  };
}

/** Creates a trace of two runs, with feedback, a feedback link, and a public link. */
async function traces(call: Call): Promise<Ids> {
  const root = runData(PROJECT, { extra: { metadata: { thread_id: "a thread" } } });
  const child = runData(PROJECT, { parent: root });
  await call("POST", "/api/v1/runs/batch", { post: [root, child] });
  const run_id = root.id;
  const [project] = (await call("GET", `/api/v1/sessions?name=${PROJECT}`)) as unknown as Ids[];
  const feedback = await call("POST", "/api/v1/feedback", { run_id, key: "k", score: 1 });
  await call("POST", "/api/v1/feedback/tokens", { run_id, feedback_key: "k" });
  await call("PUT", `/api/v1/runs/${run_id}/share`, {});
  const session_id = project?.["id"] ?? "";
  return {
    run_id,
    trace_id: root.trace_id,
    trace: root.trace_id,
    parent_run: run_id,
    parent_run_id: run_id,
    session_id,
    session: session_id,
    project_id: session_id,
    project_ids: session_id,
    trace_ids: root.trace_id,
    feedback_id: String(feedback["id"]),
  };
}

/** Creates a model's price, an export destination, an upload URL for a tarball, and an OAuth provider. */
async function platformThings(call: Call, s3: LocalS3): Promise<Ids> {
  const price = await call("POST", "/api/v1/model-price-map", {
    name: "a model",
    match_pattern: "^a-model$",
    prompt_cost: 0.1,
    completion_cost: 0.2,
  });
  const { endpoint: url, ...bucket } = s3;
  const destination = await call(
    "POST",
    "/api/v1/bulk-exports/destinations",
    destinationBody({ url, ...bucket }),
  );
  const key = await call("POST", "/api/v1/api-key", { description: "another one" });
  const { object_path } = await call("POST", "/v2/deployments/upload-url");
  await call("POST", "/v2/auth/providers", {
    provider_id: "notes",
    name: "Notes",
    client_id: "client",
    client_secret: "secret",
    auth_url: "http://127.0.0.1:1/auth",
    token_url: "http://127.0.0.1:1/token",
  });
  const attempt = await call("POST", "/v2/auth/authenticate", {
    provider: "notes",
    scopes: ["read"],
    user_id: "ada",
  });
  return {
    id: String(price["id"]),
    api_key_id: String(key["id"]),
    destination_id: String(destination["id"]),
    bulk_export_destination_id: String(destination["id"]),
    source_tarball_path: String(object_path),
    auth_id: String(attempt["auth_id"]),
  };
}

/** Creates an export of the traces; its run may have any status. */
async function exported(call: Call, { session_id, destination_id }: Ids): Promise<Ids> {
  const created = await call("POST", "/api/v1/bulk-exports", {
    bulk_export_destination_id: destination_id,
    session_id,
    start_time: new Date(Date.now() - 86_400_000).toISOString(),
    end_time: new Date(Date.now() + 86_400_000).toISOString(),
  });
  return { bulk_export_id: String(created["id"]) };
}

/** Creates a deployment of a template, and waits until it serves. */
async function deployed(call: Call): Promise<{ deploymentId: Ids; agentPath: string }> {
  const { id, latest_revision_id, source_config } = await call("POST", "/v2/deployments", {
    name: "furnished",
    source: "internal_template",
    source_config: { template_id: "agent" },
    source_revision_config: {},
  });
  const ids = { deployment_id: String(id), revision_id: String(latest_revision_id) };
  const path = `/v2/deployments/${ids.deployment_id}/revisions/${ids.revision_id}`;
  const deadline = Date.now() + ROLLOUT_TIMEOUT_MS;
  for (;;) {
    const { status } = await call("GET", path);
    if (status === "DEPLOYED") break;
    if (Date.now() > deadline) throw new Error(`The deployment is still ${String(status)}`);
    await sleep(POLL_MS);
  }
  const { custom_url } = source_config as { custom_url: string };
  return {
    deploymentId: { ...ids, deployment_ids: ids.deployment_id },
    agentPath: new URL(custom_url).pathname,
  };
}

/** Creates an assistant, a thread with a run, and an item of the store. */
async function agentThings(call: Call): Promise<Ids> {
  const { assistant_id } = await call("POST", "/assistants", { graph_id: "agent" });
  const { thread_id } = await call("POST", "/threads", {});
  await call("POST", `/threads/${String(thread_id)}/runs/wait`, {
    assistant_id,
    input: { messages: [{ role: "user", content: "What is 2 + 2?" }] },
  });
  const runs = (await call("GET", `/threads/${String(thread_id)}/runs`)) as unknown as Ids[];
  const state = await call("GET", `/threads/${String(thread_id)}/state`);
  const { checkpoint_id } = state["checkpoint"] as Ids;
  const { cron_id } = await call("POST", "/runs/crons", { assistant_id, schedule: "0 0 1 1 *" });
  return {
    assistant_id: String(assistant_id),
    thread_id: String(thread_id),
    ids: String(thread_id),
    run_id: runs[0]?.["run_id"] ?? "",
    checkpoint_id: checkpoint_id ?? "",
    cron_id: String(cron_id),
  };
}
