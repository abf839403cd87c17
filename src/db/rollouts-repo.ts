import { and, asc, eq, inArray, isNotNull, lte, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/d1";
import type { RevisionRef } from "../lib/revision-ref.ts";
import {
  deployments,
  type RevisionStatus,
  revisions,
  UNFINISHED_REVISION_STATUSES,
} from "./deployments-schema.ts";

export type RevisionRow = typeof revisions.$inferSelect;

/** The right to work on a revision, of whoever made up the text. */
export type RolloutLease = RevisionRef & { lease: string };

/** Takes a revision that is due, from nobody or from one who let it expire; a new one is queued by that. */
export async function claimRevision(
  db: D1Database,
  lease: RolloutLease,
  { now, until }: { now: number; until: number },
): Promise<RevisionRow | undefined> {
  return drizzle(db)
    .update(revisions)
    .set({
      status: sql`CASE ${revisions.status} WHEN 'CREATING' THEN 'QUEUED' ELSE ${revisions.status} END`,
      lease: lease.lease,
      due_at: until,
      attempts: sql`${revisions.attempts} + 1`,
      updated_at: now,
    })
    .where(and(isRevision(lease), isUnfinished(), lte(revisions.due_at, now)))
    .returning()
    .get();
}

/** The next status of a rollout. False when the lease is lost: somebody else decided meanwhile. */
export async function moveRevision(
  db: D1Database,
  lease: RolloutLease,
  status: RevisionStatus,
  { now, until }: { now: number; until: number },
): Promise<boolean> {
  const moved = await drizzle(db)
    .update(revisions)
    .set({ status, status_message: null, due_at: until, updated_at: now })
    .where(isHeld(lease))
    .returning({ id: revisions.id });
  return moved.length > 0;
}

/** Ends the work on a revision, with a status that it keeps. False as for `moveRevision`. */
export async function settleRevision(
  db: D1Database,
  lease: RolloutLease,
  { status, message, now }: { status: RevisionStatus; message: string | null; now: number },
): Promise<boolean> {
  const settled = await drizzle(db)
    .update(revisions)
    .set({ status, status_message: message, due_at: null, lease: null, updated_at: now })
    .where(isHeld(lease))
    .returning({ id: revisions.id });
  return settled.length > 0;
}

/** Gives the lease back: the same step is tried again at `dueAt`. */
export async function postponeRevision(
  db: D1Database,
  lease: RolloutLease,
  dueAt: number,
): Promise<void> {
  await drizzle(db).update(revisions).set({ lease: null, due_at: dueAt }).where(isHeld(lease));
}

/** The revision serves from now on, in place of whichever did. False as for `moveRevision`. */
export async function activateRevision(
  db: D1Database,
  lease: RolloutLease,
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

/** Of all workspaces, the longest due first. */
export async function listDueRevisions(
  db: D1Database,
  now: number,
  limit: number,
): Promise<RevisionRef[]> {
  return drizzle(db)
    .select({
      workspaceId: revisions.workspace_id,
      deploymentId: revisions.deployment_id,
      revisionId: revisions.id,
    })
    .from(revisions)
    .where(and(isNotNull(revisions.due_at), lte(revisions.due_at, now)))
    .orderBy(asc(revisions.due_at))
    .limit(limit);
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

function isHeld(lease: RolloutLease) {
  return and(isRevision(lease), eq(revisions.lease, lease.lease), isUnfinished());
}
