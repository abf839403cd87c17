import { withTimeout } from "../lib/with-timeout.ts";
import type { Decision, LocalLimiter } from "./local-limiter.ts";
import type { TakeAnswer, TakeRequest } from "./sliding-window.ts";
import type { Limit } from "./policy.ts";

/** After this time without an answer, a request is admitted uncounted. */
const ASK_TIMEOUT_MS = 1_000;

/** The dependencies of a decision. */
export type DecisionDeps = {
  /** Calls the object that counts. */
  ask: (request: TakeRequest) => Promise<TakeAnswer>;
  now: () => number;
  /** Continues work after the request has been answered. */
  goOn: (work: Promise<unknown>) => void;
  wait: (ms: number) => Promise<void>;
  onUnreachable: (error: unknown) => void;
};

/**
 * Decides whether a request is admitted. Most decisions on a leased limit are made locally; a limiter with few
 * permits left requests more in the background.
 */
export async function decideAdmission(
  limiter: LocalLimiter,
  limit: Limit,
  deps: DecisionDeps,
): Promise<Decision> {
  const now = deps.now();
  const decision = limiter.decide(now);
  if (decision === null) return askFor(limiter, limiter.askFor(limit, now), deps);
  if (decision.kind === "admitted") {
    const ahead = limiter.askAhead(limit, now);
    if (ahead !== null) deps.goOn(askFor(limiter, ahead, deps));
  }
  return decision;
}

async function askFor(
  limiter: LocalLimiter,
  request: TakeRequest,
  deps: DecisionDeps,
): Promise<Decision> {
  try {
    const answer = await withTimeout(ASK_TIMEOUT_MS, deps.ask(request), () => {
      throw new Error(`No answer in ${ASK_TIMEOUT_MS} ms`);
    });
    const decision = limiter.answered(request, answer, deps.now());
    if (answer.admitted && answer.lease !== null) {
      const lease = { id: answer.lease.id, ms: answer.leaseMs };
      deps.goOn(settleAfter(lease, limiter, request.limit, deps));
    }
    return decision;
  } catch (error) {
    deps.onUnreachable(error);
    return limiter.failed(request, deps.now());
  }
}

/** Returns the unused permits of an ended lease, unless a later request has done so. */
async function settleAfter(
  lease: { id: number; ms: number },
  limiter: LocalLimiter,
  limit: Limit,
  deps: DecisionDeps,
): Promise<void> {
  await deps.wait(lease.ms);
  const request = limiter.askToSettle(limit, lease.id, deps.now());
  if (request !== null) await askFor(limiter, request, deps);
}
