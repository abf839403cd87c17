import { z } from "zod";
import type { Plan } from "../lib/plan-order.ts";

const quota = (fallback: number) => z.int().nonnegative().default(fallback);

/** The one table of what a plan allows a workspace; what the variable PLAN_QUOTAS leaves out is as here. */
const planQuotasSchema = z.strictObject({
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

/** Of a table, or of JSON text. Throws an error that names the variable. */
export function parsePlanQuotas(value: unknown): PlanQuotas {
  const given = typeof value === "string" && value !== "" ? parseJson(value) : (value ?? {});
  const result = planQuotasSchema.safeParse(given === "" ? {} : given);
  if (result.success) return result.data;
  throw new Error(`PLAN_QUOTAS is not valid: ${z.prettifyError(result.error)}`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
