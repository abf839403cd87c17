import { type Plan, plansFrom } from "../lib/plan-order.ts";

/** The sentence that says which plans something needs. */
export function needsPlan(needed: Plan, what: string): string {
  return `${what} needs the ${plansFrom(needed)}`;
}
