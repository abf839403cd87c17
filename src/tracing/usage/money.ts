import { MICROS_PER_SECOND } from "../../lib/time.ts";

/** An exact decimal number: digits * 10^exponent, without trailing zeros in the digits. */
export type Decimal = { digits: bigint; exponent: number };

const DECIMAL = /^([+-]?)(\d{1,400})(?:\.(\d{1,400}))?(?:[eE]([+-]?\d{1,3}))?$/;

/** Returns null for a text that is not a decimal number; exponents as in 3.5e-5 are accepted. */
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

/** Returns the shortest decimal that identifies a double. Null for NaN and the infinities. */
export function decimalOf(value: number): Decimal | null {
  return parseDecimal(String(value));
}

/** Returns the value in units of 10^-decimals, rounded half away from zero. */
export function toUnits({ digits, exponent }: Decimal, decimals: number): bigint {
  const shift = exponent + decimals;
  if (shift >= 0) return digits * 10n ** BigInt(shift);
  return divideRounded(digits, 10n ** BigInt(-shift));
}

/** Divides and rounds half away from zero; the divisor must be positive. */
export function divideRounded(dividend: bigint, divisor: bigint): bigint {
  const doubled = 2n * dividend + (dividend < 0n ? -divisor : divisor);
  return doubled / (2n * divisor);
}

/** Formats a number in plain digits, without an exponent and without trailing zeros. */
export function formatDecimal({ digits, exponent }: Decimal): string {
  const sign = digits < 0n ? "-" : "";
  const text = String(digits < 0n ? -digits : digits);
  if (exponent >= 0) return `${sign}${text}${"0".repeat(exponent)}`;
  const padded = text.padStart(1 - exponent, "0");
  const fraction = padded.slice(exponent).replace(/0+$/, "");
  const whole = `${sign}${padded.slice(0, exponent)}`;
  return fraction === "" ? whole : `${whole}.${fraction}`;
}

/** Costs are stored in whole picodollars: 1e-12 USD. */
export const COST_DECIMALS = 12;

/** Formats picodollars as USD in plain decimals, such as "0.000065". Fractions of a picodollar are rounded. */
export function formatCost(picodollars: number): string {
  return formatDecimal({ digits: BigInt(Math.round(picodollars)), exponent: -COST_DECIMALS });
}

/**
 * Converts USD to whole picodollars, rounded half away from zero. Returns null for a text that is not a decimal
 * number, and for amounts that a number cannot hold exactly (from 9007 USD on).
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

/** Converts picodollars to USD: the number whose shortest decimal is exact up to 15 digits. */
export function toUsd(picodollars: number): number {
  return picodollars / PICODOLLARS;
}

export function toSeconds(micros: number): number {
  return micros / MICROS_PER_SECOND;
}

/** Converts a map of picodollars by category to USD. */
export function toUsdByCategory(details: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(details).map(([name, value]) => [name, toUsd(value)]));
}
