import { env } from "cloudflare:workers";
import { v7 as uuidv7 } from "uuid";
import {
  insertDeployment,
  markDeploymentDeleted,
  selectDeployment,
} from "../../src/db/deployments-repo.ts";
import type { NewPreview } from "../../src/db/previews-repo.ts";
import { insertRevision } from "../../src/db/revisions-repo.ts";
import { finishSourceUpload, insertSourceUpload } from "../../src/db/source-uploads-repo.ts";

/** A limit that no test reaches. */
const MANY = 1000;

export type TestDeployment = { workspaceId: string; deploymentId: string };

/** Creates a deployment; `secrets` is JSON of sealed texts. */
export async function newDeployment(
  fields: { workspaceId?: string; tarball?: string; secrets?: string } = {},
): Promise<TestDeployment> {
  const stored = await storeNew(fields);
  if (stored === null) throw new Error("The deployment was not stored");
  return stored;
}

/** Creates a preview of a deployment. Returns null if the statement that makes it has refused. */
export function newPreview(
  { workspaceId, deploymentId: of }: TestDeployment,
  { branch, pushedAt, most = MANY }: { branch: string; pushedAt: number; most?: number },
): Promise<TestDeployment | null> {
  const last_push = { commit: "c", pushed_at: pushedAt };
  const config = { preview_of: of, preview_branch: branch, last_push };
  return storeNew({ workspaceId, config }, { of, branch, pushed_at: pushedAt, most });
}

async function storeNew(
  fields: { workspaceId?: string; tarball?: string; secrets?: string; config?: object },
  preview: NewPreview | null = null,
): Promise<TestDeployment | null> {
  const { workspaceId = crypto.randomUUID(), tarball = null, secrets = "{}", config = {} } = fields;
  const id = crypto.randomUUID();
  const revisionId = uuidv7();
  const stored = await insertDeployment(
    env.DB,
    {
      workspace_id: workspaceId,
      id,
      name: `name-${id}`,
      slug: `slug-${id}`,
      source: "internal_source",
      source_config: JSON.stringify(config),
      latest_revision_id: revisionId,
      created_at: 1,
    },
    {
      source: "internal_source",
      template_id: null,
      source_tarball_path: tarball,
      langgraph_config_path: null,
      repo_ref: null,
      repo_commit_sha: null,
      workspace_id: workspaceId,
      deployment_id: id,
      id: revisionId,
      secrets,
      created_at: 1,
      due_at: 1,
    },
    MANY,
    preview,
  );
  return stored ? { workspaceId, deploymentId: id } : null;
}

/** Makes another revision, and returns its id. If `secrets` is null, it has those of the previous one. */
export async function newRevision(
  of: TestDeployment,
  { tarball = null, secrets = null }: { tarball?: string | null; secrets?: string | null } = {},
): Promise<string> {
  const found = await selectDeployment(env.DB, of);
  if (found === undefined) throw new Error("The deployment is there");
  const id = uuidv7({ msecs: found.revision.created_at + Date.now() });
  const stored = await insertRevision(
    env.DB,
    {
      source: "internal_source",
      template_id: null,
      source_tarball_path: tarball,
      langgraph_config_path: null,
      repo_ref: null,
      repo_commit_sha: null,
      workspace_id: of.workspaceId,
      deployment_id: of.deploymentId,
      id,
      secrets,
      created_at: 2,
      due_at: 2,
    },
    { latest: found.revision.id, displayName: null },
  );
  if (!stored) throw new Error("The revision was not stored");
  return id;
}

/** Stores a tarball, and returns its path. */
export async function newTarball(workspaceId: string, createdAt: number): Promise<string> {
  const path = `${workspaceId}/uploads/${crypto.randomUUID()}.tar.gz`;
  await env.SOURCES.put(path, "tarball");
  const row = { workspace_id: workspaceId, object_path: path, created_at: createdAt };
  await insertSourceUpload(env.DB, row, 100);
  await finishSourceUpload(env.DB, { workspaceId, objectPath: path }, 7);
  return path;
}

export async function markDeleted(of: TestDeployment, deletesProject = false): Promise<void> {
  await markDeploymentDeleted(env.DB, of, { deletesProject, now: Date.now() });
}

/** Returns the number of rows of a table that belong to the workspace. */
export async function countRows(table: string, { workspaceId }: TestDeployment): Promise<number> {
  const sql = `SELECT count(*) AS n FROM ${table} WHERE workspace_id = ?`;
  return (await env.DB.prepare(sql).bind(workspaceId).first<{ n: number }>())?.n ?? 0;
}

export async function keysOf(prefix: string): Promise<string[]> {
  const { objects } = await env.SOURCES.list({ prefix });
  return objects.map(({ key }) => key);
}
