import { toIso } from "../../lib/time.ts";
import type { ListedDeployment } from "../../db/deployments-repo.ts";
import type { ListedRevision } from "../../db/revisions-repo.ts";
import type { RevisionJson } from "./revision-schemas.ts";
import type { DeploymentJson } from "./schemas.ts";
import { SECRET_MASK } from "./secrets-schema.ts";

/** What is stored of a deployment's `source_config`: all that there can be but its URL. */
export type StoredConfig = {
  deployment_type: string | null;
  template_id: string | null;
  /** Missing where the repository is not read by an integration. */
  integration_id?: string;
  /** Missing in what was stored before repositories could be deployed. */
  repo_url?: string | null;
  /** Missing in what was stored before pushes were listened to, and where nobody asked for it. */
  build_on_push?: boolean;
  /** Whether pushes to other branches make previews; missing where nobody asked for it. */
  previews?: boolean;
  /** Of a preview: the deployment that it belongs to, and the branch that it stands for. */
  preview_of?: string;
  preview_branch?: string;
  /** When branches were deleted, by their names: an earlier push that comes later makes no preview of them. */
  ended_previews?: Record<string, number>;
  /** The push that a revision was last made of; missing until there is one. */
  last_push?: { commit: string; pushed_at: number };
};

/** A deployment as the API shows it; its URL is on a host of its own, or a path on the host that was asked. */
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

/** A revision as the API shows it. */
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
