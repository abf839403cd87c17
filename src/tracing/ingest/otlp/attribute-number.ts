import type { Micros } from "../../model/run-write.ts";

/** An integer as JSON: decimal text when a double does not hold it exactly. */
export function integerValue(value: bigint): number | string {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : String(value);
}

/** A double as JSON: text when it is not finite. */
export function doubleValue(value: number): number | string {
  return Number.isFinite(value) ? value : String(value);
}

export function microsOf(nanos: bigint): Micros {
  return Number(nanos / 1000n);
}
