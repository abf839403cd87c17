import {
  and,
  asc,
  desc,
  eq,
  getTableColumns,
  inArray,
  isNotNull,
  isNull,
  lt,
  sql,
} from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import { findPage, type Scan } from "./bounded-scan.ts";
import { deployments, revisions } from "./deployments-schema.ts";
import {
  isUploaded,
  type ListedRevision,
  type NewRevision,
  skipUnfinished,
} from "./revisions-repo.ts";
import { mayBePreview, type NewPreview } from "./previews-repo.ts";
import { jsonValues } from "./json-values.ts";
import { allOf, isAmong, sql as plain } from "./sql.ts";

export type DeploymentRow = typeof deployments.$inferSelect;

export type NewDeployment = Pick<
  DeploymentRow,
  | "workspace_id"
  | "id"
  | "name"
  | "slug"
  | "source"
  | "source_config"
  | "latest_revision_id"
  | "created_at"
>;

/** A deployment with its latest revision and the names of that revision's secrets. */
export type ListedDeployment = {
  deployment: DeploymentRow;
  revision: ListedRevision;
  secretNames: string[];
};

/** A filter whose conditions must all hold. A field that is undefined adds no condition. */
export type DeploymentFilter = {
  ids?: readonly string[] | undefined;
  name?: string | undefined;
  /** A part of the name, compared without case. */
  nameContains?: string | undefined;
  status?: DeploymentRow["status"] | undefined;
  deploymentType?: string | undefined;
  /** The id of the deployment whose previews are selected. */
  previewOf?: string | undefined;
};

type Key = { workspaceId: string; deploymentId: string };

/** The join condition of a deployment and its latest revision. */
export const IS_LATEST_REVISION = and(
  eq(revisions.workspace_id, deployments.workspace_id),
  eq(revisions.deployment_id, deployments.id),
  eq(revisions.id, deployments.latest_revision_id),
);

const { secrets, ...LISTED_REVISION } = getTableColumns(revisions);

/** The condition contains the status as a literal, so that SQLite uses the partial index on these rows. */
const IS_BEING_DELETED = sql`${deployments.status} = 'AWAITING_DELETE'`;

/**
 * Stores a deployment with its first revision. Returns false, and stores nothing, when its id, name or slug is
 * taken, the revision's tarball was not uploaded, the workspace has `quota` deployments already, or the preview
 * may not be made.
 */
export async function insertDeployment(
  db: D1Database,
  row: NewDeployment,
  revision: NewRevision & { secrets: string },
  quota: number,
  preview: NewPreview | null = null,
): Promise<boolean> {
  const [inserted] = await db.batch([
    db
      .prepare(
        `INSERT INTO deployments (workspace_id, id, name, slug, source, source_config, status,
           latest_revision_id, deletes_project, created_at, updated_at)
         SELECT ?1, ?2, ?3, ?4, ?5, ?6, 'READY', ?7, 0, ?8, ?8 WHERE ${isUploaded("?9")}
           AND (SELECT count(*) FROM deployments WHERE workspace_id = ?1 AND purged_at IS NULL) < ?10
           AND (?11 IS NULL OR (${mayBePreview("?11")}))
         ON CONFLICT DO NOTHING`,
      )
      .bind(
        row.workspace_id,
        row.id,
        row.name,
        row.slug,
        row.source,
        row.source_config,
        row.latest_revision_id,
        row.created_at,
        revision.source_tarball_path,
        quota,
        preview === null ? null : JSON.stringify(preview),
      ),
    db
      .prepare(
        `INSERT INTO revisions (workspace_id, deployment_id, id, status, source, template_id,
           source_tarball_path, langgraph_config_path, secrets, created_at, updated_at, due_at, attempts,
           repo_ref, repo_commit_sha)
         SELECT workspace_id, id, latest_revision_id, 'CREATING', ?3, ?4, ?5, ?6, ?7, ?8, ?8, ?9, 0,
           ?11, ?12
         FROM deployments WHERE workspace_id = ?1 AND id = ?2 AND latest_revision_id = ?10`,
      )
      .bind(
        row.workspace_id,
        row.id,
        revision.source,
        revision.template_id,
        revision.source_tarball_path,
        revision.langgraph_config_path,
        revision.secrets,
        revision.created_at,
        revision.due_at,
        revision.id,
        revision.repo_ref,
        revision.repo_commit_sha,
      ),
  ]);
  return inserted?.meta.changes === 1;
}

/** Returns undefined when the deployment does not exist, or was purged. */
export async function selectDeployment(
  db: D1Database,
  of: Key,
): Promise<ListedDeployment | undefined> {
  const row = await listing(db)
    .where(and(isDeployment(of), isNull(deployments.purged_at)))
    .get();
  return row === undefined ? undefined : toListed(row);
}

/** Returns a page of deployments, newest first; null when the scan would have to look at too many rows. */
export async function listDeployments(
  db: D1Database,
  workspaceId: string,
  filter: DeploymentFilter,
  page: { limit: number; offset: number },
): Promise<ListedDeployment[] | null> {
  const scan = deploymentScan(workspaceId, filter);
  const found = await findPage(db, scan, { direction: "desc", ...page });
  if (found === null) return null;
  const ids = found.page.map(({ key }) => key);
  const rows = await listing(db)
    .where(and(eq(deployments.workspace_id, workspaceId), inArray(deployments.id, jsonValues(ids))))
    .orderBy(desc(deployments.created_at), desc(deployments.id));
  return rows.map(toListed);
}

/** Counts the deployments of a workspace. Those being deleted count too, because their data still exists. */
export async function countDeployments(db: D1Database, workspaceId: string): Promise<number> {
  return drizzle(db).$count(
    deployments,
    and(eq(deployments.workspace_id, workspaceId), isNull(deployments.purged_at)),
  );
}

export async function selectDeploymentByName(
  db: D1Database,
  workspaceId: string,
  name: string,
): Promise<DeploymentRow | undefined> {
  return drizzle(db)
    .select()
    .from(deployments)
    .where(
      and(
        eq(deployments.workspace_id, workspaceId),
        eq(deployments.name, name),
        isNull(deployments.purged_at),
      ),
    )
    .get();
}

/** Changes the display name and members of `source_config`. A deployment that is being deleted is not changed. */
export async function describeDeployment(
  db: D1Database,
  of: Key,
  { displayName, config, now }: { displayName: string | null; config: object; now: number },
): Promise<void> {
  await drizzle(db)
    .update(deployments)
    .set({
      display_name: sql`coalesce(${displayName}, ${deployments.display_name})`,
      source_config: sql`json_patch(${deployments.source_config}, ${JSON.stringify(config)})`,
      updated_at: now,
    })
    .where(and(isDeployment(of), eq(deployments.status, "READY")));
}

/**
 * Takes a deployment and its previews out of service, to be deleted, and skips their unfinished revisions. Returns
 * the ids of all of them, or none when there is no such deployment. `deletesProject` cannot be reset to false by a
 * later call.
 */
export async function markDeploymentDeleted(
  db: D1Database,
  of: Key,
  { deletesProject, now }: { deletesProject: boolean; now: number },
): Promise<string[]> {
  const [marked] = await db.batch<{ id: string }>([
    db
      .prepare(
        `UPDATE deployments SET status = 'AWAITING_DELETE', active_revision_id = NULL,
           deletes_project = CASE id WHEN ?2 THEN max(deletes_project, ?3) ELSE 1 END, updated_at = ?4
         WHERE workspace_id = ?1 AND purged_at IS NULL
           AND (id = ?2 OR source_config ->> '$.preview_of' = ?2)
         RETURNING id`,
      )
      .bind(of.workspaceId, of.deploymentId, deletesProject ? 1 : 0, now),
    skipUnfinished(db, of, now),
  ]);
  return marked?.results.map(({ id }) => id) ?? [];
}

/** Returns a deployment that is being deleted, or that was purged and whose row still exists. */
export async function selectDeletedDeployment(
  db: D1Database,
  of: Key,
): Promise<DeploymentRow | undefined> {
  return drizzle(db)
    .select()
    .from(deployments)
    .where(and(isDeployment(of), IS_BEING_DELETED))
    .get();
}

/** Postpones when the sweep takes over the deletion of a deployment that is being worked on. */
export async function touchDeletion(db: D1Database, of: Key, now: number): Promise<void> {
  await drizzle(db)
    .update(deployments)
    .set({ updated_at: now })
    .where(and(isDeployment(of), IS_BEING_DELETED));
}

/** Returns deployments whose deletion has not progressed since `before`, longest waiting first. */
export async function listWaitingDeletions(
  db: D1Database,
  { before, limit }: { before: number; limit: number },
): Promise<DeploymentRow[]> {
  return drizzle(db)
    .select()
    .from(deployments)
    .where(and(IS_BEING_DELETED, isNull(deployments.purged_at), lt(deployments.updated_at, before)))
    .orderBy(asc(deployments.updated_at))
    .limit(limit);
}

/** Returns some deployments that were purged before `before` and whose row still exists, in random order. */
export async function listPurgedDeployments(
  db: D1Database,
  { before, limit }: { before: number; limit: number },
): Promise<DeploymentRow[]> {
  return drizzle(db)
    .select()
    .from(deployments)
    .where(and(IS_BEING_DELETED, lt(deployments.purged_at, before)))
    .orderBy(sql`random()`)
    .limit(limit);
}

/** Ends a deletion: the deployment is gone, with its revisions and their secrets. Its row is kept. */
export async function purgeDeployment(db: D1Database, of: Key, now: number): Promise<void> {
  await db.batch([
    db
      .prepare(
        `DELETE FROM revisions WHERE workspace_id = ?1 AND deployment_id = ?2
           AND EXISTS (SELECT 1 FROM deployments
             WHERE workspace_id = ?1 AND id = ?2 AND status = 'AWAITING_DELETE')`,
      )
      .bind(of.workspaceId, of.deploymentId),
    db
      .prepare(
        `UPDATE deployments SET purged_at = ?3, updated_at = ?3
         WHERE workspace_id = ?1 AND id = ?2 AND status = 'AWAITING_DELETE' AND purged_at IS NULL`,
      )
      .bind(of.workspaceId, of.deploymentId, now),
  ]);
}

/** Removes the row of a purged deployment. */
export async function forgetDeployment(db: D1Database, of: Key): Promise<void> {
  await drizzle(db)
    .delete(deployments)
    .where(and(isDeployment(of), isNotNull(deployments.purged_at)));
}

function listing(db: D1Database) {
  return drizzle(db)
    .select({
      deployment: deployments,
      revision: LISTED_REVISION,
      secretNames: sql<string>`(SELECT json_group_array(key) FROM json_each(${secrets}))`,
    })
    .from(deployments)
    .innerJoin(revisions, IS_LATEST_REVISION)
    .$dynamic();
}

function toListed(
  row: Omit<ListedDeployment, "secretNames"> & { secretNames: string },
): ListedDeployment {
  return { ...row, secretNames: JSON.parse(row.secretNames) as string[] };
}

function deploymentScan(workspaceId: string, filter: DeploymentFilter): Scan {
  const { ids, name, nameContains, status, deploymentType, previewOf } = filter;
  const rows = [plain("workspace_id = ?", workspaceId)];
  if (ids !== undefined) rows.push(isAmong("id", ids));
  const conditions = [plain("purged_at IS NULL")];
  if (name !== undefined) conditions.push(plain("name = ?", name));
  if (nameContains !== undefined) {
    // LIKE would need escapes, and D1 limits its patterns to 50 bytes.
    conditions.push(plain("instr(lower(name), lower(?)) > 0", nameContains));
  }
  if (status !== undefined) conditions.push(plain("status = ?", status));
  if (deploymentType !== undefined) {
    conditions.push(plain("source_config ->> 'deployment_type' = ?", deploymentType));
  }
  if (previewOf !== undefined) {
    conditions.push(plain("source_config ->> 'preview_of' = ?", previewOf));
  }
  return {
    table: "deployments",
    rows: allOf(rows),
    key: "id",
    condition: allOf(conditions),
    comparisons: 1,
    reads: ["source_config"],
    weighs: [],
    orderBy: "created_at",
  };
}

function isDeployment({ workspaceId, deploymentId }: Key) {
  return and(eq(deployments.workspace_id, workspaceId), eq(deployments.id, deploymentId));
}
