import type { Counts } from "../counting/counts.ts";

/**
 * The cost of one operation: everything that is counted, the CPU time of workerd, and the seconds for which an object
 * is awake.
 */
export type Cost = Counts & { cpuMs: number; seconds: number };

/** Billed memory of an object that is awake, in GB. */
const OBJECT_GB = 0.128;

/** Returns all rows that are billed as written: those of objects, those of D1, and one for each alarm that is set. */
export function rowsBilled({ rowsWritten, d1RowsWritten, alarmsSet }: Counts): number {
  return rowsWritten + d1RowsWritten + alarmsSet;
}

/**
 * Returns the dollars for a million operations, by the price table in docs/deploy.md: requests, calls and alarms of
 * objects, rows, CPU time, R2 and queue operations, and the time for which one object was awake. Storage is not
 * included.
 */
export function dollarsPerMillion(cost: Cost): number {
  const rowsRead = cost.rowsRead + cost.d1RowsRead;
  return (
    cost.requests * 0.3 +
    (cost.objectCalls + cost.alarms) * 0.15 +
    rowsBilled(cost) * 1 +
    rowsRead * 0.001 +
    cost.cpuMs * 0.02 +
    cost.r2Writes * 4.5 +
    cost.r2Reads * 0.36 +
    cost.messages * 3 * 0.4 +
    cost.seconds * OBJECT_GB * 12.5
  );
}

/** Dollars for a GB that is stored for a month, by the same table. */
export const DOLLARS_A_GB_MONTH = { objects: 0.2, d1: 0.75 };

/** Returns the difference between two counts, divided by the number of operations in between. */
export function perOperation(before: Counts, after: Counts, operations: number): Counts {
  const of = (name: keyof Counts): number => (after[name] - before[name]) / operations;
  return {
    requests: of("requests"),
    objectCalls: of("objectCalls"),
    statements: of("statements"),
    rowsWritten: of("rowsWritten"),
    rowsRead: of("rowsRead"),
    commits: of("commits"),
    alarmsSet: of("alarmsSet"),
    alarms: of("alarms"),
    d1Requests: of("d1Requests"),
    d1Statements: of("d1Statements"),
    d1RowsWritten: of("d1RowsWritten"),
    d1RowsRead: of("d1RowsRead"),
    r2Writes: of("r2Writes"),
    r2Reads: of("r2Reads"),
    messages: of("messages"),
  };
}
