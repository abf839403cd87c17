import { z } from "zod";
import { hostList, oneOf, seconds, table, uuid } from "../lib/settings.ts";
import { planQuotasSchema } from "./plan-quotas.ts";

const NIL_UUID = "00000000-0000-0000-0000-000000000000";

export const identitySettings = z
  .object({
    PLAN_GRACE_SECONDS: seconds(7 * 86_400),
    PLAN_QUOTAS: table(planQuotasSchema),
    AGENT_AUTH: oneOf(["api-key", "none"], "api-key"),
    TRUSTED_HOSTS: hostList("none"),
    AGENT_WORKSPACE_ID: uuid(NIL_UUID),
  })
  .transform((vars) => ({
    /**
     * Milliseconds for which the last known plan of a workspace stays valid while the billing region cannot be
     * reached.
     */
    planGraceMs: vars.PLAN_GRACE_SECONDS,
    planQuotas: vars.PLAN_QUOTAS,
    agentAuth: vars.AGENT_AUTH,
    /**
     * When `agentAuth` is "none": hosts, besides local ones, that may receive requests and whose pages may send
     * them.
     */
    trustedHosts: vars.TRUSTED_HOSTS,
    /** The workspace of every request when `agentAuth` is "none". */
    agentWorkspaceId: vars.AGENT_WORKSPACE_ID,
  }));
