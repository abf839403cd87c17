import type { Counts } from "../counting/counts.ts";

/** What one operation costs, of everything that is counted, with the time of workerd and of its objects. */
export type Cost = Counts & { cpuMs: number; seconds: number };

/** An object that is awake is billed as so much memory. */
const OBJECT_GB = 0.128;

/** All rows that are billed as written: those of objects, of D1, and one for each alarm that is set. */
export function rowsBilled({ rowsWritten, d1RowsWritten, alarmsSet }: Counts): number {
  return rowsWritten + d1RowsWritten + alarmsSet;
}

/**
 * Dollars for a million of the operation, by the price table of docs/deploy.md: requests, calls and alarms of objects, rows,
 * CPU time, operations of R2 and of queues, and the time for which one object was awake. What is stored is not in it.
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

/** Dollars for a GB that is kept for a month, by the same table. */
export const DOLLARS_A_GB_MONTH = { objects: 0.2, d1: 0.75 };

/** What was counted between two answers, for each of so many operations. */
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
