import { type Decimal, decimalOf, formatDecimal, parseDecimal, toUnits } from "./decimal.ts";

/** Costs are kept in whole picodollars: 1e-12 USD. */
export const COST_DECIMALS = 12;

/** USD of picodollars as a plain decimal, such as "0.000065". Fractions of one are rounded. */
export function formatCost(picodollars: number): string {
  return formatDecimal({ digits: BigInt(Math.round(picodollars)), exponent: -COST_DECIMALS });
}

/**
 * Whole picodollars of USD, rounded half away from zero. Null for what is no decimal number, and for
 * amounts that a number cannot hold exactly (from 9007 USD on).
 */
export function parseCost(dollars: string | number): number | null {
  return picodollarsOf(typeof dollars === "number" ? decimalOf(dollars) : parseDecimal(dollars));
}

function picodollarsOf(dollars: Decimal | null): number | null {
  return dollars === null ? null : toSafeNumber(toUnits(dollars, COST_DECIMALS));
}

export function toSafeNumber(value: bigint): number | null {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : null;
}
