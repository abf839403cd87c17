import { and, eq, inArray, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import type { RevisionRef } from "../lib/revision-ref.ts";
import {
  deployments,
  type RevisionStatus,
  revisions,
  UNFINISHED_REVISION_STATUSES,
} from "./deployments-schema.ts";
import type { HeldRow, WorkTable } from "./leases-repo.ts";
import { IS_UNFINISHED } from "./revisions-repo.ts";

/** Revisions as durable work. Taking a new revision for the first time queues it. */
export const ROLLOUT_WORK: WorkTable<RevisionRef, typeof revisions> = {
  table: revisions,
  key: { workspaceId: "workspace_id", deploymentId: "deployment_id", revisionId: "id" },
  isOpen: IS_UNFINISHED,
  onTake: [
    "status = CASE status WHEN 'CREATING' THEN 'QUEUED' ELSE status END",
    "attempts = attempts + 1",
  ],
};

type HeldRevision = HeldRow<RevisionRef>;

/**
 * Sets the next status of a rollout. Returns false when the lease is lost, because another process has decided
 * meanwhile.
 */
export async function moveRevision(
  db: D1Database,
  lease: HeldRevision,
  { status, now }: { status: RevisionStatus; now: number },
): Promise<boolean> {
  const moved = await drizzle(db)
    .update(revisions)
    .set({ status, status_message: null, updated_at: now })
    .where(isHeld(lease))
    .returning({ id: revisions.id });
  return moved.length > 0;
}

/** Records the commit that a revision is built from. Returns false when the lease is lost. */
export async function pinCommit(
  db: D1Database,
  lease: HeldRevision,
  { sha, now }: { sha: string; now: number },
): Promise<boolean> {
  const pinned = await drizzle(db)
    .update(revisions)
    .set({ repo_commit_sha: sha, updated_at: now })
    .where(isHeld(lease))
    .returning({ id: revisions.id });
  return pinned.length > 0;
}

/** Ends the work on a revision with a final status. Returns false when the lease is lost. */
export async function settleRevision(
  db: D1Database,
  lease: HeldRevision,
  { status, message, now }: { status: RevisionStatus; message: string | null; now: number },
): Promise<boolean> {
  const settled = await drizzle(db)
    .update(revisions)
    .set({ status, status_message: message, due_at: null, lease: null, updated_at: now })
    .where(isHeld(lease))
    .returning({ id: revisions.id });
  return settled.length > 0;
}

/** Makes the revision serve instead of the current one. Returns false when the lease is lost. */
export async function activateRevision(
  db: D1Database,
  lease: HeldRevision,
  { graphs, now }: { graphs: string; now: number },
): Promise<boolean> {
  const orm = drizzle(db);
  const stillHeld = sql`EXISTS (SELECT 1 FROM ${revisions} WHERE ${isHeld(lease)})`;
  const [, settled] = await orm.batch([
    orm
      .update(deployments)
      .set({ active_revision_id: lease.revisionId, updated_at: now })
      .where(
        and(
          eq(deployments.workspace_id, lease.workspaceId),
          eq(deployments.id, lease.deploymentId),
          eq(deployments.status, "READY"),
          stillHeld,
        ),
      ),
    orm
      .update(revisions)
      .set({ status: "DEPLOYED", graphs, due_at: null, lease: null, updated_at: now })
      .where(isHeld(lease))
      .returning({ id: revisions.id }),
  ]);
  return settled.length > 0;
}

function isRevision({ workspaceId, deploymentId, revisionId }: RevisionRef) {
  return and(
    eq(revisions.workspace_id, workspaceId),
    eq(revisions.deployment_id, deploymentId),
    eq(revisions.id, revisionId),
  );
}

function isUnfinished() {
  return inArray(revisions.status, [...UNFINISHED_REVISION_STATUSES]);
}

function isHeld(lease: HeldRevision) {
  return and(isRevision(lease), eq(revisions.lease, lease.lease), isUnfinished());
}
