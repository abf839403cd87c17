import { withTimeout } from "../lib/with-timeout.ts";
import type { Decision, LocalLimiter } from "./local-limiter.ts";
import type { TakeAnswer, TakeRequest } from "./sliding-window.ts";
import type { Limit } from "./policy.ts";

/** Longer, and a request goes on without having been counted. */
const ASK_TIMEOUT_MS = 1_000;

/** What a decision needs of its surroundings. */
export type DecisionDeps = {
  /** Asks the object that counts. */
  ask: (request: TakeRequest) => Promise<TakeAnswer>;
  now: () => number;
  /** Goes on with work after the request has been answered. */
  goOn: (work: Promise<unknown>) => void;
  wait: (ms: number) => Promise<void>;
  onUnreachable: (error: unknown) => void;
};

/**
 * Whether a request is admitted. Most decisions on a leased limit need nobody else; who has few
 * permits left asks for more beside the request.
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

/** Gives back what is left of a lease when it has ended, if no later request did. */
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
