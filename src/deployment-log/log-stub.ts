import { scopeObjectName } from "../lib/object-names.ts";
import type { Scope } from "../lib/scope.ts";
import { regionalObject } from "../regions/regional-object.ts";
import type { DeploymentLogObject } from "./deployment-log-object.ts";

/** The object that has a deployment's log. */
export function logStub(env: Env, deployment: Scope): DurableObjectStub<DeploymentLogObject> {
  return regionalObject(env, "DEPLOYMENT_LOGS", scopeObjectName(deployment));
}
