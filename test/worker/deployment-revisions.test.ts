import { env } from "cloudflare:workers";
import { v7 as uuidv7 } from "uuid";
import { beforeAll, expect, inject, test } from "vitest";
import { selectDeployment } from "../../src/db/deployments-repo.ts";
import { insertRevision, listRevisions } from "../../src/db/revisions-repo.ts";
import { storeUpload } from "../../src/control-plane/deployments/source-uploads.ts";
import { releaseUnusedSources } from "../../src/db/source-uploads-repo.ts";
import {
  markDeleted,
  newDeployment,
  newTarball,
  newRevision,
  type TestDeployment,
} from "./deployment-support.ts";
import { migrateIndex } from "./support.ts";

beforeAll(() => migrateIndex(inject("migrations")));

async function latestOf(of: TestDeployment): Promise<string> {
  return (await selectDeployment(env.DB, of))?.revision.id ?? "";
}

async function statusesOf(of: TestDeployment): Promise<string[]> {
  const page = { statuses: undefined, limit: 10, offset: 0 };
  return (await listRevisions(env.DB, of, page)).map(({ status }) => status);
}

function insert(of: TestDeployment, latest: string, tarball: string | null = null) {
  const revision = {
    source: "internal_source" as const,
    template_id: null,
    source_tarball_path: tarball,
    langgraph_config_path: null,
    repo_ref: null,
    repo_commit_sha: null,
    workspace_id: of.workspaceId,
    deployment_id: of.deploymentId,
    id: uuidv7(),
    secrets: null,
    created_at: 5,
    due_at: 5,
  };
  return insertRevision(env.DB, revision, { latest, displayName: "changed" });
}

/** Returns whether a request was refused and had no effect. */
async function isRefused(of: TestDeployment, change: () => Promise<boolean>): Promise<boolean> {
  const read = async () =>
    JSON.stringify([await selectDeployment(env.DB, of), await statusesOf(of)]);
  const before = await read();
  return !(await change()) && (await read()) === before;
}

test("a revision is based on the latest one only", async () => {
  const of = await newDeployment();
  const first = await latestOf(of);
  await newRevision(of);
  expect(await isRefused(of, () => insert(of, first))).toBe(true);
  expect(await insert(of, await latestOf(of))).toBe(true);
  expect(await statusesOf(of)).toHaveLength(3);
});

test("a revision cannot be made while the deployment is deleted", async () => {
  const of = await newDeployment();
  await markDeleted(of);
  const latest = await latestOf(of);
  expect(await isRefused(of, () => insert(of, latest))).toBe(true);
});

test("a revision cannot be made from a missing tarball or another workspace's", async () => {
  const of = await newDeployment();
  const latest = await latestOf(of);
  const foreign = await newTarball(crypto.randomUUID(), Date.now());
  for (const path of ["x", foreign]) {
    expect(await isRefused(of, () => insert(of, latest, path))).toBe(true);
  }
  expect(await insert(of, latest, await newTarball(of.workspaceId, Date.now()))).toBe(true);
});

test("a tarball that was given up cannot be used", async () => {
  const of = await newDeployment();
  const objectPath = await newTarball(of.workspaceId, 1);
  expect(await releaseUnusedSources(env.DB, { before: 2, limit: 1000 })).toContain(objectPath);
  const latest = await latestOf(of);
  expect(await isRefused(of, () => insert(of, latest, objectPath))).toBe(true);
  const bytes = new Uint8Array([0x1f, 0x8b, 0]);
  await env.SOURCES.delete(objectPath);
  const grant = { workspaceId: of.workspaceId, objectPath };
  await expect(storeUpload(env, grant, bytes)).rejects.toThrow(
    "This upload is not expected any more",
  );
  expect(await env.SOURCES.head(objectPath)).toBeNull();
});
