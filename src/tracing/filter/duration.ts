import type { Micros } from "../model/run-write.ts";

const DURATION = /^(\d+(?:\.\d+)?) ?(us|ms|s|m|h|d)$/;

/** Microseconds as a power of ten, times a factor. */
const UNITS: Readonly<Record<string, [power: number, factor: number]>> = {
  us: [0, 1],
  ms: [3, 1],
  s: [6, 1],
  m: [6, 60],
  h: [6, 3600],
  d: [6, 86_400],
};

/** "5s", "1500ms", "2m", also us, h and d; null for anything else. */
export function parseDuration(text: string): Micros | null {
  const match = DURATION.exec(text);
  const [power, factor] = UNITS[match?.[2] ?? ""] ?? [];
  if (power === undefined || factor === undefined) return null;
  const micros = scaled(match?.[1] ?? "", power) * factor;
  return Number.isFinite(micros) ? micros : null;
}

/**
 * A decimal number times 10^power, rounded once: "1.005" times 10^12 is whole, which the product
 * 1.005 * 1e12 is not.
 */
export function scaled(decimal: string, power: number): number {
  const [mantissa = "", exponent = "0"] = decimal.toLowerCase().split("e");
  return Number(`${mantissa}e${Number(exponent) + power}`);
}
