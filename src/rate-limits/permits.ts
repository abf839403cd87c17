import type { Limit } from "./policy.ts";

/** How many permits of a lease have been used that will not be used any more. */
export type Settlement = { lease: number; used: number };

export type PermitRequest = {
  limit: Limit;
  /** Permits for a request that waits: 1, or 0 when none does. */
  needed: 0 | 1;
  /** More of them, as a lease, if there are enough. */
  spare: number;
  settled: Settlement[];
};

export type PermitAnswer =
  | {
      admitted: true;
      /** Permits that nobody has, after this answer. */
      free: number;
      lease: { id: number; permits: number } | null;
      /** How long a lease of now is valid, from when it was asked for. */
      leaseMs: number;
    }
  | { admitted: false; retryMs: number; leaseMs: number };
