import { type ListedDeployment, listDeployments } from "../../db/deployments-repo.ts";
import { DEPLOYMENT_STATUSES } from "../../db/deployments-schema.ts";
import type { AppContext } from "../../http/app-types.ts";
import { invalidField } from "../../lib/api-error.ts";
import type { DeploymentListQuery } from "./schemas.ts";

/** One page of those that match. */
export async function findDeployments(
  c: AppContext,
  query: DeploymentListQuery,
): Promise<ListedDeployment[]> {
  const status = DEPLOYMENT_STATUSES.find((name) => name === query.status);
  // No deployment here has an image, tags, or one of the other statuses.
  if (query.image_version !== undefined || query.tag_value_ids !== undefined) return [];
  if (query.status !== undefined && status === undefined) return [];
  const found = await listDeployments(
    c.env.DB,
    c.var.scope.workspaceId,
    {
      ids: query.deployment_ids,
      name: query.name,
      nameContains: query.name_contains,
      status,
      deploymentType: query.deployment_type,
    },
    { limit: query.limit, offset: query.offset },
  );
  if (found !== null) return found;
  const msg =
    "There are too many deployments to look at all of them: name those that come into question with " +
    "deployment_ids";
  throw invalidField(["query", "name_contains"], msg, "query_too_large");
}
