/** What the platform has asked of Cloudflare since it started, as it is billed. */
export type Counts = {
  /** Requests to the Worker. */
  requests: number;
  /** Calls of Durable Objects, from the Worker and from each other. */
  objectCalls: number;
  /** Of objects: SQL statements, and the rows that SQLite says they have written and read. */
  statements: number;
  rowsWritten: number;
  rowsRead: number;
  /** Turns of an object that wrote something: each is one transaction on its disk. */
  commits: number;
  /** Each alarm that is set is billed as a row written. */
  alarmsSet: number;
  alarms: number;
  /** Of D1: requests to it, their statements, and rows. */
  d1Requests: number;
  d1Statements: number;
  d1RowsWritten: number;
  d1RowsRead: number;
  r2Writes: number;
  r2Reads: number;
  messages: number;
};

/** Rows written by what wrote them: an object's class and the statement, or D1 and the statement. */
export type RowsByStatement = Record<string, { count: number; rowsWritten: number }>;

/** Calls of objects by their binding, and what their databases hold by their class; of D1, too. */
export type Shares = { calls: Record<string, number>; bytes: Record<string, number> };

export type CountingAnswer = {
  counts: Counts;
  shares: Shares;
  /** Of the newest stream that has sent something: statements on D1 from its request to its first event. */
  d1StatementsBeforeFirstEvent: number;
  byStatement: RowsByStatement;
};

/** Where a hop leads: to a Durable Object, to D1, to R2, to a queue. */
export type HopKind = "object" | "d1" | "r2" | "queue";

/** How many milliseconds each hop waits before it leaves. */
export type HopDelays = Record<HopKind, number>;

export const NO_DELAYS: HopDelays = { object: 0, d1: 0, r2: 0, queue: 0 };

/** What the bench asks for by `POST /counting`. */
export type CountingRequest = { hopDelays: HopDelays };

export const COUNTING_PATH = "/counting";

export const NO_COUNTS: Counts = {
  requests: 0,
  objectCalls: 0,
  statements: 0,
  rowsWritten: 0,
  rowsRead: 0,
  commits: 0,
  alarmsSet: 0,
  alarms: 0,
  d1Requests: 0,
  d1Statements: 0,
  d1RowsWritten: 0,
  d1RowsRead: 0,
  r2Writes: 0,
  r2Reads: 0,
  messages: 0,
};
