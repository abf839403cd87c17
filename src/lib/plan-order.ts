/** The plans, from the lowest to the highest. */
export const PLANS = ["developer", "plus", "enterprise"] as const;

export type Plan = (typeof PLANS)[number];

/** The plan of a workspace without a paid plan. */
export const LOWEST_PLAN = PLANS[0];

/** Whether a plan is the needed one or a higher one. */
export function isAtLeast(plan: Plan, needed: Plan): boolean {
  return PLANS.indexOf(plan) >= PLANS.indexOf(needed);
}

/** Returns the plans that suffice, for a sentence: "plan Plus or Enterprise". */
export function plansFrom(needed: Plan): string {
  const names = PLANS.filter((plan) => isAtLeast(plan, needed)).map(
    (plan) => plan.charAt(0).toUpperCase() + plan.slice(1),
  );
  return `plan ${names.join(" or ")}`;
}
