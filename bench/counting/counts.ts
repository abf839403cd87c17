/** The platform's use of Cloudflare since it started, in billed units. */
export type Counts = {
  /** Requests to the Worker. */
  requests: number;
  /** Calls of Durable Objects, from the Worker and from each other. */
  objectCalls: number;
  /** SQL statements of Durable Objects, and the rows that SQLite reports as written and read. */
  statements: number;
  rowsWritten: number;
  rowsRead: number;
  /** Turns in which an object wrote something: each is one transaction on its disk. */
  commits: number;
  /** Alarms that were set: each is billed as a row written. */
  alarmsSet: number;
  alarms: number;
  /** Requests to D1, their statements, and rows. */
  d1Requests: number;
  d1Statements: number;
  d1RowsWritten: number;
  d1RowsRead: number;
  r2Writes: number;
  r2Reads: number;
  messages: number;
};

/** Rows written, by an object's class or `D1`, followed by the statement. */
export type RowsByStatement = Record<string, { count: number; rowsWritten: number }>;

/** Calls of objects, by binding, and the bytes of databases, by the objects' class or `D1`. */
export type Shares = { calls: Record<string, number>; bytes: Record<string, number> };

export type CountingAnswer = {
  counts: Counts;
  shares: Shares;
  /** D1 statements from the request to the first event, for the newest stream that has sent something. */
  d1StatementsBeforeFirstEvent: number;
  byStatement: RowsByStatement;
};

/** The destination of a hop: a Durable Object, D1, R2 or a queue. */
export type HopKind = "object" | "d1" | "r2" | "queue";

/** Milliseconds that each hop waits before it leaves. */
export type HopDelays = Record<HopKind, number>;

export const NO_DELAYS: HopDelays = { object: 0, d1: 0, r2: 0, queue: 0 };

/** The body of `POST /counting`. */
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
