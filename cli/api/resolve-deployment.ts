import { isUuid } from "../../src/lib/uuid.ts";
import { CliError } from "../cli-error.ts";
import type { ControlPlane } from "./control-plane.ts";
import type { Deployment } from "./schemas.ts";

/** Returns the deployment with this id or name. Throws a `CliError` when there is none. */
export async function resolveDeployment(api: ControlPlane, idOrName: string): Promise<Deployment> {
  const found = isUuid(idOrName)
    ? await api.findDeployment(idOrName)
    : await api.findDeploymentByName(idOrName);
  if (found !== undefined) return found;
  throw new CliError(`there is no deployment ${idOrName} on ${api.url}`);
}
