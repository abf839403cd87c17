import { withTimeout } from "../lib/with-timeout.ts";
import type { Decision, PermitHolder } from "./permit-holder.ts";
import type { PermitAnswer, PermitRequest } from "./permits.ts";
import type { Limit } from "./policy.ts";

/** Longer, and a request goes on without having been counted. */
const ASK_TIMEOUT_MS = 1_000;

/** What a decision needs of its surroundings. */
export type Counting = {
  /** Asks the object that counts. */
  ask: (request: PermitRequest) => Promise<PermitAnswer>;
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
export async function decide(
  holder: PermitHolder,
  limit: Limit,
  counting: Counting,
): Promise<Decision> {
  const now = counting.now();
  const decision = holder.decide(now);
  if (decision === null) return askFor(holder, holder.askFor(limit, now), counting);
  if (decision.kind === "admitted") {
    const ahead = holder.askAhead(limit, now);
    if (ahead !== null) counting.goOn(askFor(holder, ahead, counting));
  }
  return decision;
}

async function askFor(
  holder: PermitHolder,
  request: PermitRequest,
  counting: Counting,
): Promise<Decision> {
  try {
    const answer = await withTimeout(ASK_TIMEOUT_MS, counting.ask(request), () => {
      throw new Error(`No answer in ${ASK_TIMEOUT_MS} ms`);
    });
    const decision = holder.answered(request, answer, counting.now());
    if (answer.admitted && answer.lease !== null) {
      const lease = { id: answer.lease.id, ms: answer.leaseMs };
      counting.goOn(settleAfter(lease, holder, request.limit, counting));
    }
    return decision;
  } catch (error) {
    counting.onUnreachable(error);
    return holder.failed(request, counting.now());
  }
}

/** Gives back what is left of a lease when it has ended, if no later request did. */
async function settleAfter(
  lease: { id: number; ms: number },
  holder: PermitHolder,
  limit: Limit,
  counting: Counting,
): Promise<void> {
  await counting.wait(lease.ms);
  const request = holder.askToSettle(limit, lease.id, counting.now());
  if (request !== null) await askFor(holder, request, counting);
}
