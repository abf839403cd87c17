import type { Limit } from "./policy.ts";

/** The last report on a lease: how many of its permits were used; the others never will be. */
export type Settlement = { lease: number; used: number };

export type TakeRequest = {
  limit: Limit;
  /** Permits for a request that waits: 1, or 0 when none does. */
  needed: 0 | 1;
  /** More of them, as a lease, if there are enough. */
  spare: number;
  settled: Settlement[];
};

export type TakeAnswer =
  | {
      admitted: true;
      /** Permits that nobody has, after this answer. */
      free: number;
      lease: { id: number; permits: number } | null;
      /** How long a lease of now is valid, from when it was asked for. */
      leaseMs: number;
    }
  | { admitted: false; retryMs: number; leaseMs: number };
