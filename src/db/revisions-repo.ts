import { and, desc, eq, getTableColumns, inArray } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import type { Scope } from "../lib/scope.ts";
import {
  type RevisionStatus,
  revisions,
  UNFINISHED_REVISION_STATUSES,
} from "./deployments-schema.ts";

export type RevisionRow = typeof revisions.$inferSelect;

/** The source that a revision deploys. */
export type RevisionSource = Pick<
  RevisionRow,
  | "source"
  | "template_id"
  | "source_tarball_path"
  | "langgraph_config_path"
  | "repo_ref"
  | "repo_commit_sha"
>;

/** When `secrets` is null, the revision gets those of the revision before. */
export type NewRevision = RevisionSource & {
  workspace_id: string;
  deployment_id: string;
  id: string;
  secrets: string | null;
  created_at: number;
  due_at: number;
};

/** A revision without its secrets. */
export type ListedRevision = Omit<RevisionRow, "secrets">;

const { secrets: _secrets, ...LISTED } = getTableColumns(revisions);

/**
 * The condition that a rollout has not ended. It is text with literals, so that SQLite can use a partial index.
 */
export const IS_UNFINISHED = `status IN (${UNFINISHED_REVISION_STATUSES.map((name) => `'${name}'`).join(", ")})`;

/**
 * An SQL condition that the tarball named by parameter `place` is uploaded, or the parameter is null; `?1` is the
 * workspace.
 */
export function isUploaded(place: string): string {
  return `(${place} IS NULL OR EXISTS (SELECT 1 FROM source_uploads
    WHERE workspace_id = ?1 AND object_path = ${place} AND size IS NOT NULL))`;
}

/**
 * Adds a revision to a deployment and makes it the latest; unfinished older revisions are skipped. Members of
 * `config` are merged into the deployment's `source_config`. Returns false, and changes nothing, unless `latest`
 * still is the latest revision, the deployment is not being deleted, and the tarball is uploaded.
 */
export async function insertRevision(
  db: D1Database,
  revision: NewRevision,
  {
    latest,
    displayName,
    config = {},
  }: { latest: string; displayName: string | null; config?: object },
): Promise<boolean> {
  const { workspace_id: workspaceId, deployment_id: deploymentId, id } = revision;
  const [inserted] = await db.batch([
    db
      .prepare(
        `INSERT INTO revisions (workspace_id, deployment_id, id, status, source, template_id,
           source_tarball_path, langgraph_config_path, secrets, created_at, updated_at, due_at, attempts,
           repo_ref, repo_commit_sha)
         SELECT ?1, ?2, ?3, 'CREATING', ?4, ?5, ?6, ?7, coalesce(?8, base.secrets), ?9, ?9, ?10, 0,
           ?12, ?13
         FROM deployments d JOIN revisions base
           ON base.workspace_id = ?1 AND base.deployment_id = ?2 AND base.id = ?11
         WHERE d.workspace_id = ?1 AND d.id = ?2 AND d.status = 'READY'
           AND d.latest_revision_id = ?11 AND ${isUploaded("?6")}`,
      )
      .bind(
        workspaceId,
        deploymentId,
        id,
        revision.source,
        revision.template_id,
        revision.source_tarball_path,
        revision.langgraph_config_path,
        revision.secrets,
        revision.created_at,
        revision.due_at,
        latest,
        revision.repo_ref,
        revision.repo_commit_sha,
      ),
    db
      .prepare(
        `UPDATE revisions SET status = 'SKIPPED', status_message = 'There is a newer revision',
           due_at = NULL, lease = NULL, updated_at = ?4
         WHERE workspace_id = ?1 AND deployment_id = ?2 AND id <> ?3 AND ${IS_UNFINISHED}
           AND EXISTS (SELECT 1 FROM revisions WHERE id = ?3)`,
      )
      .bind(workspaceId, deploymentId, id, revision.created_at),
    db
      .prepare(
        `UPDATE deployments SET latest_revision_id = ?3,
           display_name = coalesce(?4, display_name), updated_at = ?5,
           source_config = json_patch(source_config, ?6)
         WHERE workspace_id = ?1 AND id = ?2 AND EXISTS (SELECT 1 FROM revisions WHERE id = ?3)`,
      )
      .bind(
        workspaceId,
        deploymentId,
        id,
        displayName,
        revision.created_at,
        JSON.stringify(config),
      ),
  ]);
  return inserted?.meta.changes === 1;
}

export async function selectRevision(
  db: D1Database,
  of: Scope,
  id: string,
): Promise<ListedRevision | undefined> {
  return drizzle(db).select(LISTED).from(revisions).where(isRevision(of, id)).get();
}

/** Returns a page of revisions, newest first. */
export async function listRevisions(
  db: D1Database,
  of: Scope,
  {
    statuses,
    limit,
    offset,
  }: { statuses: readonly RevisionStatus[] | undefined; limit: number; offset: number },
): Promise<ListedRevision[]> {
  return drizzle(db)
    .select(LISTED)
    .from(revisions)
    .where(
      and(isOf(of), statuses === undefined ? undefined : inArray(revisions.status, [...statuses])),
    )
    .orderBy(desc(revisions.id))
    .limit(limit)
    .offset(offset);
}

/** Interrupts an unfinished revision. Returns undefined when it has ended or does not exist. */
export async function interruptRevision(
  db: D1Database,
  of: Scope,
  id: string,
  now: number,
): Promise<ListedRevision | undefined> {
  return drizzle(db)
    .update(revisions)
    .set({
      status: "INTERRUPTED",
      status_message: "Interrupted by a request",
      due_at: null,
      lease: null,
      updated_at: now,
    })
    .where(and(isRevision(of, id), inArray(revisions.status, [...UNFINISHED_REVISION_STATUSES])))
    .returning(LISTED)
    .get();
}

type SealedRevision = Pick<RevisionRow, "workspace_id" | "deployment_id" | "id" | "secrets">;

/** Returns some revisions with a secret that is encrypted by one of these keys, in random order. */
export async function listRevisionsByKey(
  db: D1Database,
  keyVersions: readonly number[],
  limit: number,
): Promise<SealedRevision[]> {
  // A sealed text begins with the version of its key. Neither names nor sealed texts contain a quote.
  const { results } = await db
    .prepare(
      `SELECT workspace_id, deployment_id, id, secrets FROM revisions
       WHERE EXISTS (SELECT 1 FROM json_each(?1)
         WHERE instr(revisions.secrets, '":"' || json_each.value || '.') > 0)
       ORDER BY random() LIMIT ?2`,
    )
    .bind(JSON.stringify(keyVersions), limit)
    .all<SealedRevision>();
  return results;
}

/** Returns false when the row has changed since it was read. */
export async function resealRevision(
  db: D1Database,
  row: SealedRevision,
  secrets: string,
): Promise<boolean> {
  const updated = await drizzle(db)
    .update(revisions)
    .set({ secrets })
    .where(
      and(
        isRevision({ workspaceId: row.workspace_id, deploymentId: row.deployment_id }, row.id),
        eq(revisions.secrets, row.secrets),
      ),
    )
    .returning({ id: revisions.id });
  return updated.length === 1;
}

/** Skips the unfinished revisions of a deployment that is being deleted and of its previews. */
export function skipUnfinished(
  db: D1Database,
  { workspaceId, deploymentId }: Scope,
  now: number,
): D1PreparedStatement {
  return db
    .prepare(
      `UPDATE revisions SET status = 'SKIPPED', status_message = 'The deployment was deleted',
         due_at = NULL, lease = NULL, updated_at = ?3
       WHERE workspace_id = ?1 AND ${IS_UNFINISHED}
         AND deployment_id IN (SELECT id FROM deployments
           WHERE workspace_id = ?1 AND status = 'AWAITING_DELETE'
             AND (id = ?2 OR source_config ->> '$.preview_of' = ?2))`,
    )
    .bind(workspaceId, deploymentId, now);
}

function isOf({ workspaceId, deploymentId }: Scope) {
  return and(eq(revisions.workspace_id, workspaceId), eq(revisions.deployment_id, deploymentId));
}

function isRevision(of: Scope, id: string) {
  return and(isOf(of), eq(revisions.id, id));
}
