import { z } from "zod";
import type { Plan } from "../lib/plan-order.ts";

const quota = (fallback: number) => z.int().nonnegative().default(fallback);

/** The one table of what a plan allows a workspace; what the variable PLAN_QUOTAS leaves out is as here. */
export const planQuotasSchema = z.strictObject({
  developer: quotasOf({ deployments: 1, exports_at_once: 1 }),
  plus: quotasOf({ deployments: 20, exports_at_once: 15 }),
  enterprise: quotasOf({ deployments: 1000, exports_at_once: 15 }),
});

function quotasOf(fallback: { deployments: number; exports_at_once: number }) {
  return z
    .strictObject({
      /** How many deployments there may be. */
      deployments: quota(fallback.deployments),
      /**
       * How many exports are at work at a time; the others wait. A plan without bulk export needs one
       * too: what was asked for before the plan changed is finished.
       */
      exports_at_once: z.int().positive().default(fallback.exports_at_once),
    })
    .prefault({});
}

export type PlanQuotas = z.infer<typeof planQuotasSchema>;

/** What a workspace of this plan may have. */
export function planQuota(settings: { planQuotas: PlanQuotas }, plan: Plan): PlanQuotas[Plan] {
  return settings.planQuotas[plan];
}
