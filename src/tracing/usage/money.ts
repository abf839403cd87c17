import { MICROS_PER_SECOND } from "../../lib/time.ts";

/** An exact decimal number: digits * 10^exponent, with no zero at the end of the digits. */
export type Decimal = { digits: bigint; exponent: number };

const DECIMAL = /^([+-]?)(\d{1,400})(?:\.(\d{1,400}))?(?:[eE]([+-]?\d{1,3}))?$/;

/** Null for what is no decimal number; exponents like those of 3.5e-5 are fine. */
export function parseDecimal(text: string): Decimal | null {
  const match = DECIMAL.exec(text);
  if (match === null) return null;
  const [, sign = "", whole = "", fraction = "", power = "0"] = match;
  const all = whole + fraction;
  const significant = all.replace(/0+$/, "");
  if (/^0*$/.test(significant)) return { digits: 0n, exponent: 0 };
  const digits = BigInt(significant);
  const exponent = Number(power) - fraction.length + (all.length - significant.length);
  return { digits: sign === "-" ? -digits : digits, exponent };
}

/** The shortest decimal that stands for a double. Null for NaN and the infinities. */
export function decimalOf(value: number): Decimal | null {
  return parseDecimal(String(value));
}

/** The value in units of 10^-decimals, rounded half away from zero. */
export function toUnits({ digits, exponent }: Decimal, decimals: number): bigint {
  const shift = exponent + decimals;
  if (shift >= 0) return digits * 10n ** BigInt(shift);
  return divideRounded(digits, 10n ** BigInt(-shift));
}

/** Half away from zero; the divisor is positive. */
export function divideRounded(dividend: bigint, divisor: bigint): bigint {
  const doubled = 2n * dividend + (dividend < 0n ? -divisor : divisor);
  return doubled / (2n * divisor);
}

/** Plain digits, without an exponent and without zeros at the end. */
export function formatDecimal({ digits, exponent }: Decimal): string {
  const sign = digits < 0n ? "-" : "";
  const text = String(digits < 0n ? -digits : digits);
  if (exponent >= 0) return `${sign}${text}${"0".repeat(exponent)}`;
  const padded = text.padStart(1 - exponent, "0");
  const fraction = padded.slice(exponent).replace(/0+$/, "");
  const whole = `${sign}${padded.slice(0, exponent)}`;
  return fraction === "" ? whole : `${whole}.${fraction}`;
}

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

const PICODOLLARS = 10 ** COST_DECIMALS;

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
