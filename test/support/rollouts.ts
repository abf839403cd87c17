import { gzipSync } from "node:zlib";
import { fileURLToPath } from "node:url";
import { Client } from "@langchain/langgraph-sdk";
import { packTar } from "modern-tar";
import { buildTarball } from "../../cli/project/tarball.ts";
import { type Deployer, type DeploymentBody, newUpload, put, sourceBody } from "./deployments.ts";

const POLL_MS = 20;
const ROLLOUT_LIMIT_MS = 150_000;
const UNFINISHED = /^(CREATING|QUEUED|AWAITING_BUILD|BUILDING|AWAITING_DEPLOY|DEPLOYING)$/;

export type RevisionBody = { id: string; status: string; status_message: string | null };

/** Returns the tarball of a folder of `test/fixtures`, as `threadworks build` makes it. */
export async function fixtureTarball(folder: string): Promise<Uint8Array<ArrayBuffer>> {
  const configPath = fileURLToPath(new URL(`../fixtures/${folder}`, import.meta.url));
  const { bytes } = await buildTarball({ configPath, schemas: false });
  return new Uint8Array(bytes);
}

/** Returns the tarball of a project with one hand-made module. */
export async function moduleTarball(code: string): Promise<Uint8Array<ArrayBuffer>> {
  const manifest = JSON.stringify({ format: 1, runtime: 1, main: "project.js" });
  const entries = Object.entries({ "threadworks.json": manifest, "project.js": code });
  const archive = await packTar(
    entries.map(([name, text]) => {
      const body = new TextEncoder().encode(text);
      return { header: { name, size: body.length }, body };
    }),
  );
  return new Uint8Array(gzipSync(archive));
}

/** Uploads a tarball, and returns its path. */
export async function upload(
  deployer: Deployer,
  tarball: Uint8Array<ArrayBuffer>,
): Promise<string> {
  const { url, path } = await newUpload(deployer);
  const { status, body } = await put(url, tarball);
  if (status !== 200) throw new Error(`${status}: ${JSON.stringify(body)}`);
  return path;
}

/** Polls a revision until its rollout has ended, and returns it. */
export async function endedRevision(
  { call }: Deployer,
  deploymentId: string,
  revisionId: string,
  limitMs = ROLLOUT_LIMIT_MS,
): Promise<RevisionBody> {
  const deadline = Date.now() + limitMs;
  for (;;) {
    const { body } = await call("GET", `/deployments/${deploymentId}/revisions/${revisionId}`);
    const revision = body as RevisionBody;
    if (!UNFINISHED.test(revision.status)) return revision;
    if (Date.now() > deadline) throw new Error(`still ${revision.status}: ${revisionId}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** Changes a deployment, and returns the resulting revision when its rollout has ended. */
export async function patched(
  deployer: Deployer,
  id: string,
  change: object,
): Promise<RevisionBody> {
  const { status, body } = await deployer.call("PATCH", `/deployments/${id}`, change);
  if (status !== 200) throw new Error(`${status}: ${JSON.stringify(body)}`);
  return endedRevision(deployer, id, (body as DeploymentBody).latest_revision_id);
}

/** Creates a deployment of a tarball, and waits until its first revision has ended. */
export async function deployed(
  deployer: Deployer,
  name: string,
  tarball: Uint8Array<ArrayBuffer>,
  change: object = {},
): Promise<{ deployment: DeploymentBody; revision: RevisionBody }> {
  const body = sourceBody(name, await upload(deployer, tarball), change);
  const created = await deployer.call("POST", "/deployments", body);
  if (created.status !== 201) throw new Error(`${created.status}: ${JSON.stringify(created.body)}`);
  const { id, latest_revision_id } = created.body as DeploymentBody;
  const revision = await endedRevision(deployer, id, latest_revision_id);
  const { body: deployment } = await deployer.call("GET", `/deployments/${id}`);
  return { deployment: deployment as DeploymentBody, revision };
}

/** Returns the official client of a deployment's agent server. */
export function agentClient({ source_config }: DeploymentBody, apiKey: string | null): Client {
  const apiUrl = String(source_config["custom_url"]);
  return new Client({ apiUrl, apiKey, callerOptions: { maxRetries: 0 } });
}
