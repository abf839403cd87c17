import { sql } from "drizzle-orm";
import {
  index,
  integer,
  primaryKey,
  sqliteTable,
  text,
  uniqueIndex,
} from "drizzle-orm/sqlite-core";

/** Deployments, their revisions, and uploaded sources. Times are in epoch milliseconds. */

export const SOURCES = ["github", "internal_source", "internal_template"] as const;

export type DeploymentSource = (typeof SOURCES)[number];

export const DEPLOYMENT_STATUSES = ["READY", "AWAITING_DELETE"] as const;

/** The statuses of an unfinished revision, in the order of a rollout. */
export const UNFINISHED_REVISION_STATUSES = [
  "CREATING",
  "QUEUED",
  "AWAITING_BUILD",
  "BUILDING",
  "AWAITING_DEPLOY",
  "DEPLOYING",
] as const;

export const ENDED_REVISION_STATUSES = [
  "CREATE_FAILED",
  "BUILD_FAILED",
  "DEPLOY_FAILED",
  "DEPLOYED",
  "SKIPPED",
  "INTERRUPTED",
] as const;

export const REVISION_STATUSES = [
  ...UNFINISHED_REVISION_STATUSES,
  ...ENDED_REVISION_STATUSES,
] as const;

export type RevisionStatus = (typeof REVISION_STATUSES)[number];

export const deployments = sqliteTable(
  "deployments",
  {
    workspace_id: text().notNull(),
    id: text().notNull(),
    /** Never changes, because the tracing project has the same name. */
    name: text().notNull(),
    display_name: text(),
    /** The deployment's name in its URL, unique in the installation. */
    slug: text().notNull(),
    source: text({ enum: SOURCES }).notNull(),
    /** A JSON object as in the API. */
    source_config: text().notNull(),
    status: text({ enum: DEPLOYMENT_STATUSES }).notNull(),
    /** The id of the newest revision. */
    latest_revision_id: text().notNull(),
    /** The id of the revision that serves; null until the first one is deployed. */
    active_revision_id: text(),
    /** Whether deleting the deployment also deletes its traces. */
    deletes_project: integer({ mode: "boolean" }).notNull(),
    created_at: integer().notNull(),
    updated_at: integer().notNull(),
    /** When its data was removed. From then on, the deployment does not exist for clients. */
    purged_at: integer(),
  },
  (table) => [
    primaryKey({ columns: [table.workspace_id, table.id] }),
    uniqueIndex("deployments_by_id").on(table.id),
    uniqueIndex("deployments_by_name")
      .on(table.workspace_id, table.name)
      .where(sql`purged_at IS NULL`),
    uniqueIndex("deployments_by_slug")
      .on(table.slug)
      .where(sql`purged_at IS NULL`),
    index("deployments_to_delete")
      .on(table.updated_at)
      .where(sql`status = 'AWAITING_DELETE'`),
  ],
);

export const revisions = sqliteTable(
  "revisions",
  {
    workspace_id: text().notNull(),
    deployment_id: text().notNull(),
    /** A UUID of version 7, so revisions sort by creation. */
    id: text().notNull(),
    status: text({ enum: REVISION_STATUSES }).notNull(),
    /** Explains the status when necessary. */
    status_message: text(),
    source: text({ enum: SOURCES }).notNull(),
    /** The template, for the source internal_template. */
    template_id: text(),
    /** The tarball, for the source internal_source; null while there is nothing to build yet. */
    source_tarball_path: text(),
    /** The path of the configuration in the tarball or in the repository. */
    langgraph_config_path: text(),
    /** The branch, tag or commit, for the source github; null for the repository's default branch. */
    repo_ref: text(),
    /** The commit that `repo_ref` named when the rollout resolved it. A redeploy builds it again. */
    repo_commit_sha: text(),
    /** A JSON object of names to sealed values: the environment of this revision. */
    secrets: text().notNull(),
    /** JSON of the revision's graphs, set when it is deployed: `[{graph_id, description}]`. */
    graphs: text(),
    created_at: integer().notNull(),
    updated_at: integer().notNull(),
    /** When a rollout next looks at the revision; while it is leased, when the lease ends; null for never. */
    due_at: integer(),
    /** The id of the current lease; null when no rollout works on the revision. */
    lease: text(),
    /** How many times a rollout has taken the revision. */
    attempts: integer().notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.workspace_id, table.deployment_id, table.id] }),
    uniqueIndex("revisions_by_id").on(table.id),
    index("revisions_due")
      .on(table.due_at)
      .where(sql`due_at IS NOT NULL`),
    index("revisions_by_tarball").on(table.source_tarball_path),
  ],
);

/** Tarballs that were uploaded, or may still be uploaded. */
export const sourceUploads = sqliteTable(
  "source_uploads",
  {
    workspace_id: text().notNull(),
    /** `<workspace id>/uploads/<id>.tar.gz`, which is also the key in R2. */
    object_path: text().notNull(),
    /** 0 when the upload was given up and only its object has yet to be removed. */
    created_at: integer().notNull(),
    /** Size in bytes; null until the tarball is uploaded. */
    size: integer(),
  },
  (table) => [
    primaryKey({ columns: [table.workspace_id, table.object_path] }),
    index("source_uploads_by_time").on(table.created_at),
  ],
);
