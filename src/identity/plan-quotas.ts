import { z } from "zod";
import type { Plan } from "../lib/plan-order.ts";

const quota = (fallback: number) => z.int().nonnegative().default(fallback);

/** The quotas of each plan. The variable PLAN_QUOTAS overrides these defaults. */
export const planQuotasSchema = z.strictObject({
  developer: quotasOf({ deployments: 1, exports_at_once: 1 }),
  plus: quotasOf({ deployments: 20, exports_at_once: 15 }),
  enterprise: quotasOf({ deployments: 1000, exports_at_once: 15 }),
});

function quotasOf(fallback: { deployments: number; exports_at_once: number }) {
  return z
    .strictObject({
      /** Maximum number of deployments. */
      deployments: quota(fallback.deployments),
      /**
       * Maximum number of exports that run at a time; others wait. A plan without bulk export needs one too,
       * because exports requested before the plan changed are finished.
       */
      exports_at_once: z.int().positive().default(fallback.exports_at_once),
    })
    .prefault({});
}

export type PlanQuotas = z.infer<typeof planQuotasSchema>;

/** Returns the quotas of a workspace with this plan. */
export function planQuota(settings: { planQuotas: PlanQuotas }, plan: Plan): PlanQuotas[Plan] {
  return settings.planQuotas[plan];
}
