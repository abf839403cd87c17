import { gzipSync } from "node:zlib";
import { vi } from "vitest";
import { createWorkspace, createKey } from "../../cli/database/identity.ts";
import type { Plan } from "../../src/lib/plan-order.ts";
import { type Answer, send, toAnswer } from "./http.ts";
import type { TestServer } from "./server.ts";

type Call = (method: string, path: string, body?: unknown) => Promise<Answer>;

/** A workspace; the paths of its calls are below `/v2`. */
export type Deployer = { id: string; apiKey: string; call: Call };

export type DeploymentBody = Record<string, unknown> & {
  id: string;
  latest_revision_id: string;
  active_revision_id: string | null;
  source_config: Record<string, unknown>;
  source_revision_config: Record<string, unknown>;
  secrets: { name: string; value: string }[];
};

export async function newDeployer(
  server: TestServer,
  plan: Plan = "enterprise",
): Promise<Deployer> {
  const workspace = await createWorkspace(server.database, "deployer", plan);
  const id = String(workspace["id"]);
  const key = await createKey(server.database, { workspaceId: id, name: "deployer" });
  const apiKey = String(key["key"]);
  return {
    id,
    apiKey,
    call: (method, path, body) => send(server, method, `/v2${path}`, body, { "x-api-key": apiKey }),
  };
}

/** Returns the body of a deployment of the template `agent`. */
export function templateBody(name: string, change: object = {}): Record<string, unknown> {
  return {
    name,
    source: "internal_template",
    source_config: { template_id: "agent" },
    source_revision_config: {},
    ...change,
  };
}

/** Returns the body of a deployment of a tarball, or of none yet if the path is null. */
export function sourceBody(
  name: string,
  tarball: string | null,
  change: object = {},
): Record<string, unknown> {
  return {
    name,
    source: "internal_source",
    source_config: {},
    source_revision_config: { source_tarball_path: tarball },
    ...change,
  };
}

export async function createDeployment(
  { call }: Deployer,
  body: Record<string, unknown>,
): Promise<DeploymentBody> {
  const answer = await call("POST", "/deployments", body);
  if (answer.status !== 201) throw new Error(`${answer.status}: ${JSON.stringify(answer.body)}`);
  return answer.body as DeploymentBody;
}

const ROLLOUT = { timeout: 150_000, interval: 50 };

/** Creates a deployment of the template `agent`, waits for its rollout, and returns its URL. */
export async function deployTemplate(deployer: Deployer, name: string): Promise<string> {
  const { id, source_config } = await createDeployment(deployer, templateBody(name));
  await vi.waitFor(async () => {
    const [revision] = await revisionsOf(deployer, id);
    if (revision?.status !== "DEPLOYED") throw new Error(JSON.stringify(revision));
  }, ROLLOUT);
  return String(source_config["custom_url"]);
}

/** Returns a gzip file; only builds read its content. */
export function tarball(text: string): Buffer<ArrayBuffer> {
  return Buffer.from(gzipSync(text));
}

export async function newUpload({ call }: Deployer): Promise<{ url: string; path: string }> {
  const { status, body } = await call("POST", "/deployments/upload-url");
  if (status !== 200) throw new Error(`${status}: ${JSON.stringify(body)}`);
  const { upload_url: url, object_path: path } = body as Record<
    "upload_url" | "object_path",
    string
  >;
  return { url, path };
}

export async function put(
  url: string,
  body: BodyInit,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const init = { method: "PUT", body, headers: { "content-type": "application/gzip", ...headers } };
  return toAnswer(await fetch(url, init));
}

/** Uploads a tarball, and returns its path. */
export async function uploaded(deployer: Deployer, text = "code"): Promise<string> {
  const { url, path } = await newUpload(deployer);
  const answer = await put(url, tarball(text));
  if (answer.status !== 200) throw new Error(`${answer.status}: ${JSON.stringify(answer.body)}`);
  return path;
}

/** The fields of a revision that tests read. */
export type RevisionBody = { id: string; status: string; status_message: string | null };

/** Returns the revisions of a deployment, newest first. */
export async function revisionsOf({ call }: Deployer, id: string): Promise<RevisionBody[]> {
  const { status, body } = await call("GET", `/deployments/${id}/revisions?limit=100`);
  if (status !== 200) throw new Error(`${status}: ${JSON.stringify(body)}`);
  return (body as { resources: RevisionBody[] }).resources;
}

/** Ends a revision as a rollout would. */
export async function endRevision(
  server: TestServer,
  revisionId: string,
  status: string,
): Promise<void> {
  const sql = "UPDATE revisions SET status = ?, due_at = NULL WHERE id = ?";
  await server.database.run(sql, [status, revisionId]);
}
