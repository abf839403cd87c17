import type { Sql } from "../../db/sql.ts";

/**
 * The number of bits of a row's key in `runs` that distinguish runs with the same start. The bits above them
 * are the start in microseconds. As an integer, the key is the position of the row in SQLite's tree, so runs
 * are stored in the order of their start, and long rows do not slow a scan down. A key has up to 63 bits, more
 * than a number of JavaScript can hold, so it leaves SQL only in its two parts.
 */
const TIE_BITS = 10;
const TIES = 2 ** TIE_BITS;

/** If more runs than ties have the same start, the rest use the following microseconds, at most up to this distance. */
export const MAX_SHIFT_MICROS = 10_000;

const LAST_KEY = 2n ** 63n - 1n;

/** Selects the parts of the key of a row `r`; `keyIs` takes them. */
export const KEY_PARTS = `r.key >> ${TIE_BITS} AS key_high, r.key & ${TIES - 1} AS key_low`;

export type KeyParts = { key_high: number; key_low: number };

/** Returns the condition that a row has the key with these parts, which are parameters by default. */
export function keyIs(high = "?", low = "?"): string {
  return `key = (CAST(${high} AS INTEGER) << ${TIE_BITS}) + CAST(${low} AS INTEGER)`;
}

/** The expression for the next key at a time, which is the parameter `?1`. */
export const NEXT_KEY = `coalesce(
  (SELECT max(key) + 1 FROM runs
   WHERE key BETWEEN CAST(?1 AS INTEGER) << ${TIE_BITS} AND (CAST(?1 AS INTEGER) << ${TIE_BITS}) + ${TIES - 1}),
  CAST(?1 AS INTEGER) << ${TIE_BITS})`;

/**
 * Returns the condition that a run starts within the bounds, which are inclusive and in microseconds. They
 * are written into the SQL: the number of parameters is limited, and numbers are safe.
 */
export function startsWithin(alias: string, from: number, to: number): string {
  const first = BigInt(Math.max(from, 0)) * BigInt(TIES);
  const last = (BigInt(to) + BigInt(MAX_SHIFT_MICROS)) * BigInt(TIES) + BigInt(TIES - 1);
  const end = last > LAST_KEY ? LAST_KEY : last;
  return `${alias}.key BETWEEN ${first} AND ${end} AND ${alias}.start_time BETWEEN ${from} AND ${to}`;
}

/** Like `startsWithin`, with parameters, so that SQLite need not parse the statement again for other bounds. */
export function startsWithinSql(alias: string, from: number, to: number): Sql {
  const first = Math.max(from, 0);
  const last = Math.min(to, LAST_START);
  const time = "CAST(? AS INTEGER)";
  return {
    text: `${startsBetween(alias, time, time)} AND ${alias}.start_time BETWEEN ? AND ?`,
    params: [first, last, from, to],
  };
}

/** Later than any start of a run, in microseconds, and small enough to be shifted. */
export const LAST_START = Number.MAX_SAFE_INTEGER - MAX_SHIFT_MICROS - 1;

/**
 * Returns the condition that a run's key lies between two times, given as SQL expressions. It also holds
 * for runs that start up to MAX_SHIFT_MICROS outside of them.
 */
export function startsBetween(alias: string, from: string, to: string): string {
  return `${alias}.key BETWEEN (${from}) << ${TIE_BITS}
    AND (((${to}) + ${MAX_SHIFT_MICROS}) << ${TIE_BITS}) + ${TIES - 1}`;
}
