import { toIso } from "../../lib/time.ts";
import type { ListedDeployment } from "../../db/deployments-repo.ts";
import type { AppContext } from "../../http/app-types.ts";
import { toRevisionConfig } from "./revision-json.ts";
import type { DeploymentJson } from "./schemas.ts";
import { SECRET_MASK } from "./secrets-schema.ts";

/** Of a deployment's `source_config`, what is stored: all that there can be but its URL. */
export type StoredConfig = { deployment_type: string | null; template_id: string | null };

/** A deployment as the API shows it. */
export function toDeployment(
  c: AppContext,
  { deployment, revision, secretNames }: ListedDeployment,
): DeploymentJson {
  const { deployment_type, template_id } = storedConfig(deployment);
  return {
    id: deployment.id,
    name: deployment.name,
    display_name: deployment.display_name,
    source: deployment.source,
    source_config: {
      deployment_type,
      template_id,
      custom_url: urlOf(c, deployment.slug),
      integration_id: null,
      repo_url: null,
      build_on_push: null,
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

/** A host of its own, or a path on the host that was asked. */
function urlOf(c: AppContext, slug: string): string {
  const { agentsDomain } = c.var.settings.hosts;
  return agentsDomain === null
    ? new URL(`/deployments/${slug}`, c.req.url).href
    : `https://${slug}.${agentsDomain}`;
}
