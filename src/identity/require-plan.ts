import { type Plan, plansFrom } from "../lib/plan-order.ts";

/** Returns a sentence that says which plans a feature needs. */
export function needsPlan(needed: Plan, what: string): string {
  return `${what} needs the ${plansFrom(needed)}`;
}
