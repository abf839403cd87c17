import { toIso } from "../../lib/time.ts";
import type { ListedDeployment } from "../../db/deployments-repo.ts";
import type { ListedRevision } from "../../db/revisions-repo.ts";
import type { RevisionJson } from "./revision-schemas.ts";
import type { DeploymentJson } from "./schemas.ts";
import { SECRET_MASK } from "./secrets-schema.ts";

/** The stored form of a deployment's `source_config`: all fields that can be set, without the URLs. */
export type StoredConfig = {
  deployment_type: string | null;
  template_id: string | null;
  /** Missing when no integration reads the repository. */
  integration_id?: string;
  /** Missing in rows stored before repositories could be deployed. */
  repo_url?: string | null;
  /** Missing in rows stored before builds on push existed, and when never requested. */
  build_on_push?: boolean;
  /** Whether pushes to other branches make previews; missing when never requested. */
  previews?: boolean;
  /** Set for a preview: the deployment that it belongs to, and its branch. */
  preview_of?: string;
  preview_branch?: string;
  /**
   * The times at which branches were deleted, by branch name. An earlier push that arrives late makes no preview.
   */
  ended_previews?: Record<string, number>;
  /** The push from which a revision was last made; missing before the first one. */
  last_push?: { commit: string; pushed_at: number };
};

/** Converts a deployment to the API's JSON. Its URL has a host of its own, or is a path on the requested host. */
export function toDeploymentJson(
  { agentsDomain, requestUrl }: { agentsDomain: string | null; requestUrl: string },
  { deployment, revision, secretNames }: ListedDeployment,
): DeploymentJson {
  const stored = storedConfig(deployment);
  const { deployment_type, template_id, repo_url = null } = stored;
  const [buildsOnPush, hasPreviews] = [stored.build_on_push === true, stored.previews === true];
  return {
    id: deployment.id,
    name: deployment.name,
    display_name: deployment.display_name,
    source: deployment.source,
    source_config: {
      deployment_type,
      template_id,
      custom_url:
        agentsDomain === null
          ? new URL(`/deployments/${deployment.slug}`, requestUrl).href
          : `https://${deployment.slug}.${agentsDomain}`,
      integration_id: stored.integration_id ?? null,
      repo_url,
      build_on_push: repo_url === null ? null : buildsOnPush,
      previews: repo_url === null ? null : hasPreviews,
      preview_of: stored.preview_of ?? null,
      preview_branch: stored.preview_branch ?? null,
      webhook_url:
        buildsOnPush || hasPreviews
          ? new URL(`/v2/deployments/${deployment.id}/github-webhook`, requestUrl).href
          : null,
      resource_spec: null,
      listener_id: null,
      listener_config: null,
      install_command: null,
      build_command: null,
    },
    source_revision_config: toRevisionConfig(revision),
    secrets: secretNames.map((name) => ({ name, value: SECRET_MASK })),
    secret_references: null,
    tenant_id: deployment.workspace_id,
    status: deployment.status,
    latest_revision_id: deployment.latest_revision_id,
    active_revision_id: deployment.active_revision_id,
    image_version: null,
    created_at: toIso(deployment.created_at),
    updated_at: toIso(deployment.updated_at),
  };
}

export function storedConfig({ source_config }: { source_config: string }): StoredConfig {
  return JSON.parse(source_config) as StoredConfig;
}

/** Converts a revision to the API's JSON. */
export function toRevisionJson(row: ListedRevision): RevisionJson {
  return {
    id: row.id,
    status: row.status,
    status_message: row.status_message,
    source: row.source,
    source_revision_config: toRevisionConfig(row),
    created_at: toIso(row.created_at),
    updated_at: toIso(row.updated_at),
  };
}

function toRevisionConfig(row: ListedRevision): RevisionJson["source_revision_config"] {
  return {
    source_tarball_path: row.source_tarball_path,
    langgraph_config_path: row.langgraph_config_path,
    repo_ref: row.repo_ref,
    repo_commit_sha: row.repo_commit_sha,
    image_uri: null,
  };
}
