import { COST_DECIMALS } from "../../usage/picodollars.ts";

const PICODOLLARS = 10 ** COST_DECIMALS;
const MICROS_PER_SECOND = 1_000_000;

/** USD of picodollars: the number whose shortest decimal is exact up to 15 digits. */
export function toUsd(picodollars: number): number {
  return picodollars / PICODOLLARS;
}

export function toSeconds(micros: number): number {
  return micros / MICROS_PER_SECOND;
}

/** A map of picodollars by category as USD. */
export function toUsdByCategory(details: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(details).map(([name, value]) => [name, toUsd(value)]));
}
