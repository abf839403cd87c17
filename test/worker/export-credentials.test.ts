import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, inject, test, vi } from "vitest";
import {
  destinationCredentials,
  openCredentials,
  sealCredentials,
} from "../../src/bulk-export/destinations/credentials.ts";
import { openBucket } from "../../src/bulk-export/destinations/open-bucket.ts";
import {
  deleteUnusedCredentials,
  insertExportDestination,
  replaceExportCredentials,
  selectExportCredentials,
} from "../../src/db/export-destinations-repo.ts";
import { migrateIndex } from "./support.ts";

const ONE = `1:${btoa("1".repeat(32)).replace("=", "")}`;
const TWO = `2:${btoa("2".repeat(32)).replace("=", "")}`;

const BODY = { access_key_id: "id", secret_access_key: "secret", session_token: null };
const OPENED = { accessKeyId: "id", secretAccessKey: "secret", sessionToken: null };

type Key = { workspaceId: string; destinationId: string; version: number };

beforeAll(() => migrateIndex(inject("migrations")));

beforeEach(async () => {
  for (const table of ["export_destinations", "export_credentials", "export_runs"]) {
    await env.DB.prepare(`DELETE FROM ${table}`).run();
  }
});

async function sealedRow(key: Key, keys: string) {
  return {
    workspace_id: key.workspaceId,
    destination_id: key.destinationId,
    version: key.version,
    sealed: await sealCredentials(keys, BODY, key),
    key_version: Number(keys[0]),
    names: "[]",
    created_at: 0,
  };
}

/** Creates a destination with one version of credentials, under the first of the keys. */
async function newDestination(keys: string): Promise<Key> {
  const key = { workspaceId: crypto.randomUUID(), destinationId: crypto.randomUUID(), version: 1 };
  await insertExportDestination(
    env.DB,
    {
      id: key.destinationId,
      workspace_id: key.workspaceId,
      display_name: "Ours",
      bucket_name: "exports",
      prefix: "a/b",
      region: "eu-west-1",
      endpoint_url: null,
      include_bucket_in_prefix: true,
      credentials_version: 1,
      created_at: 0,
      updated_at: 0,
      deleted_at: null,
    },
    await sealedRow(key, keys),
  );
  return key;
}

async function replace(key: Key, version: number): Promise<boolean> {
  const row = await sealedRow({ ...key, version }, ONE);
  const change = { from: version - 1, displayName: undefined, now: 1 };
  return (await replaceExportCredentials(env.DB, row, change)) !== undefined;
}

async function versionsOf({ destinationId }: Key): Promise<number[]> {
  const { results } = await env.DB.prepare(
    "SELECT version FROM export_credentials WHERE destination_id = ? ORDER BY version",
  )
    .bind(destinationId)
    .all<{ version: number }>();
  return results.map(({ version }) => version);
}

function withKeys(keys: string): Env {
  return Object.assign({ ...env }, { ENCRYPTION_KEYS: keys });
}

function reseal(keys: string): Promise<number> {
  return destinationCredentials.run({ env: withKeys(keys), rows: 100 });
}

async function newExportRun(key: Key, run: { status: string; version: number }): Promise<string> {
  const exportId = crypto.randomUUID();
  const runId = crypto.randomUUID();
  await env.DB.batch([
    env.DB.prepare(
      `INSERT INTO bulk_exports (id, workspace_id, destination_id, project_id, start_time,
         format_version, compression, status, created_at, updated_at)
       VALUES (?, ?, ?, 'p', 0, 'v1', 'gzip', 'RUNNING', 0, 0)`,
    ).bind(exportId, key.workspaceId, key.destinationId),
    env.DB.prepare(
      `INSERT INTO export_runs (id, workspace_id, export_id, start_time, end_time, status,
         credentials_version, due_at, created_at, updated_at)
       VALUES (?, ?, ?, 0, 1, ?, ?, 0, 0, 0)`,
    ).bind(runId, key.workspaceId, exportId, run.status, run.version),
  ]);
  return runId;
}

test("credentials of an old key are encrypted again, and opened without it", async ({ expect }) => {
  const key = await newDestination(ONE);
  expect(await reseal(ONE)).toBe(0);
  expect(await reseal(`${TWO},${ONE}`)).toBe(1);
  const row = await selectExportCredentials(env.DB, key);
  expect(row?.key_version).toBe(2);
  expect(await openCredentials(TWO, row?.sealed ?? "", key)).toEqual(OPENED);
  expect(await reseal(`${TWO},${ONE}`)).toBe(0);
});

test("credentials that no key opens do not prevent the rotation of others", async ({
  expect,
  onTestFinished,
}) => {
  const lost = await newDestination(ONE);
  await env.DB.prepare("UPDATE export_credentials SET sealed = '1.AAAA'").run();
  const key = await newDestination(ONE);
  const logged = vi.spyOn(console, "error").mockReturnValue();
  onTestFinished(() => logged.mockRestore());
  expect(await reseal(`${TWO},${ONE}`)).toBe(1);
  expect(logged.mock.calls.map(([line]) => JSON.parse(String(line)))).toMatchObject([
    {
      event: "secret_not_resealed",
      kind: "export_credentials",
      destination_id: lost.destinationId,
    },
  ]);
  expect((await selectExportCredentials(env.DB, key))?.key_version).toBe(2);
  expect((await selectExportCredentials(env.DB, lost))?.key_version).toBe(1);
});

test("nothing is encrypted again without keys", async ({ expect }) => {
  await newDestination(ONE);
  expect(await reseal("")).toBe(0);
});

test("unused versions are removed", async ({ expect }) => {
  const key = await newDestination(ONE);
  expect(await deleteUnusedCredentials(env.DB, 100)).toBe(0);
  expect(await replace(key, 2)).toBe(true);
  expect(await replace(key, 3)).toBe(true);
  const runId = await newExportRun(key, { status: "RUNNING", version: 1 });
  await newExportRun(key, { status: "COMPLETED", version: 2 });
  const other = await newDestination(ONE);
  await newExportRun(other, { status: "RUNNING", version: 2 });

  expect(await deleteUnusedCredentials(env.DB, 100)).toBe(1);
  expect(await versionsOf(key)).toEqual([1, 3]);
  await env.DB.prepare("UPDATE export_runs SET status = 'FAILED' WHERE id = ?").bind(runId).run();
  expect(await deleteUnusedCredentials(env.DB, 100)).toBe(1);
  expect(await versionsOf(key)).toEqual([3]);
  expect(await versionsOf(other)).toEqual([1]);
});

test("a version is created once", async ({ expect }) => {
  const key = await newDestination(ONE);
  const made = await Promise.all([replace(key, 2), replace(key, 2)]);
  expect(made.filter(Boolean)).toHaveLength(1);
  expect(await versionsOf(key)).toEqual([1, 2]);
});

test("a bucket is opened with the requested version", async ({ expect }) => {
  const key = await newDestination(ONE);
  const of = { ...key, credentialsVersion: 1 };
  expect((await openBucket(withKeys(ONE), of))?.prefix).toBe("a/b");
  await expect(openBucket(withKeys(TWO), of)).rejects.toThrow(
    "ENCRYPTION_KEYS has no key of version 1, but secrets need it",
  );
  const gone = "The credentials do not exist any more";
  for (const credentialsVersion of [2, null]) {
    await expect(openBucket(withKeys(ONE), { ...of, credentialsVersion })).rejects.toThrow(gone);
  }
  const other = { ...of, workspaceId: crypto.randomUUID() };
  expect(await openBucket(withKeys(ONE), other)).toBeNull();
});
