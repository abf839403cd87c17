import { z } from "@hono/zod-openapi";
import { REVISION_STATUSES, SOURCES } from "../../db/deployments-schema.ts";
import { uuidParam } from "../../http/path-params.ts";
import { pageParams, remoteReconciled, wordsParam } from "./list-params.ts";

export const revisionParams = z.object({
  deployment_id: uuidParam(),
  revision_id: uuidParam(),
});

export const revisionConfigJson = z.object({
  source_tarball_path: z.string().nullable(),
  langgraph_config_path: z.string().nullable(),
  repo_ref: z.string().nullable(),
  /** The commit that was built; null until it is known. */
  repo_commit_sha: z.string().nullable(),
  image_uri: z.null(),
});

export const revisionSchema = z
  .object({
    id: z.string(),
    status: z.enum(REVISION_STATUSES),
    /** Explains the status when necessary. */
    status_message: z.string().nullable(),
    source: z.enum(SOURCES),
    source_revision_config: revisionConfigJson,
    created_at: z.string(),
    updated_at: z.string(),
  })
  .openapi("Revision");

export type RevisionJson = z.infer<typeof revisionSchema>;

export const revisionListSchema = z
  .object({ resources: z.array(revisionSchema), offset: z.number().int() })
  .openapi("RevisionsList");

export const revisionListQuery = z.strictObject({
  ...pageParams,
  status: wordsParam([...REVISION_STATUSES, "UNKNOWN"]).optional(),
  remote_reconciled: remoteReconciled(),
});
