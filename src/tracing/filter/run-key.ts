import type { Sql } from "../../db/sql.ts";

/**
 * The key of a row of `runs`: its start in microseconds, shifted, and a number that tells runs of one start
 * apart. As an integer it is the place of the row in SQLite's tree, so that runs lie in the order of their start
 * and a long row costs a scan nothing. It has up to 63 bits, more than a number of JavaScript, and is never
 * taken out of SQL but in its two parts.
 */
const TIE_BITS = 10;
const TIES = 2 ** TIE_BITS;

/** Where more runs than ties have one start, the rest are in the microseconds behind it: no further than this. */
export const MAX_SHIFT_MICROS = 10_000;

const LAST_KEY = 2n ** 63n - 1n;

/** The parts by which `keyIs` names a row `r`. */
export const KEY_PARTS = `r.key >> ${TIE_BITS} AS key_high, r.key & ${TIES - 1} AS key_low`;

export type KeyParts = { key_high: number; key_low: number };

/** The condition that a row has the key whose parts are these parameters. */
export function keyIs(high = "?", low = "?"): string {
  return `key = (CAST(${high} AS INTEGER) << ${TIE_BITS}) + CAST(${low} AS INTEGER)`;
}

/** The next key at a time, which is the one parameter, given twice. */
export const NEXT_KEY = `coalesce(
  (SELECT max(key) + 1 FROM runs
   WHERE key BETWEEN CAST(?1 AS INTEGER) << ${TIE_BITS} AND (CAST(?1 AS INTEGER) << ${TIE_BITS}) + ${TIES - 1}),
  CAST(?1 AS INTEGER) << ${TIE_BITS})`;

/** Bounds are written out: parameters are few, and these are numbers. Both are inclusive. */
export function startsWithin(alias: string, from: number, to: number): string {
  const first = BigInt(Math.max(from, 0)) * BigInt(TIES);
  const last = (BigInt(to) + BigInt(MAX_SHIFT_MICROS)) * BigInt(TIES) + BigInt(TIES - 1);
  const end = last > LAST_KEY ? LAST_KEY : last;
  return `${alias}.key BETWEEN ${first} AND ${end} AND ${alias}.start_time BETWEEN ${from} AND ${to}`;
}

/** The same with parameters, for a statement that is used again for other bounds: SQLite need not read it again. */
export function startsWithinSql(alias: string, from: number, to: number): Sql {
  const first = Math.max(from, 0);
  const last = Math.min(to, LAST_START);
  const time = "CAST(? AS INTEGER)";
  return {
    text: `${startsBetween(alias, time, time)} AND ${alias}.start_time BETWEEN ? AND ?`,
    params: [first, last, from, to],
  };
}

/** Beyond the end of any time that a run can have, and small enough to be shifted. */
export const LAST_START = Number.MAX_SAFE_INTEGER - MAX_SHIFT_MICROS - 1;

/** The same for SQL expressions. */
export function startsBetween(alias: string, from: string, to: string): string {
  return `${alias}.key BETWEEN (${from}) << ${TIE_BITS}
    AND (((${to}) + ${MAX_SHIFT_MICROS}) << ${TIE_BITS}) + ${TIES - 1}`;
}
