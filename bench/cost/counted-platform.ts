import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
  COUNTING_PATH,
  type CountingAnswer,
  type CountingRequest,
  type HopDelays,
} from "../counting/counts.ts";
import { REPO_ROOT } from "../support/paths.ts";
import { startTracingPlatform, type TracingPlatform } from "../support/tracing-platform.ts";

/** Longer than the delay of the alarm that a thread sets when a run has ended. */
const QUIET_MS = 12_000;
const POLL_MS = 500;

/** The platform, with counts of its requests to Cloudflare. */
export type CountedPlatform = TracingPlatform & {
  /** Base URL of the agent server. */
  agentUrl: string;
  counted: () => Promise<CountingAnswer>;
  /** Returns the counts once nothing changes any more, so that work which follows an answer is included. */
  settled: () => Promise<CountingAnswer>;
  delayHops: (hopDelays: HopDelays) => Promise<void>;
};

export async function startCountedPlatform(stateDir: string): Promise<CountedPlatform> {
  const platform = await startTracingPlatform(stateDir, {
    workerMain: join(REPO_ROOT, "bench/counting/worker.ts"),
    // These are the settings of a deployment, except that stored stream events expire while they are still counted.
    vars: { AGENT_AUTH: "api-key", RATE_LIMITS: "on", RESUMABLE_STREAM_TTL_SECONDS: "5" },
  });
  const agentUrl = new URL(platform.url).origin;
  const counted = async (init: RequestInit = {}): Promise<CountingAnswer> => {
    const response = await fetch(agentUrl + COUNTING_PATH, init);
    if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
    return (await response.json()) as CountingAnswer;
  };
  return {
    ...platform,
    agentUrl,
    counted,
    settled: async () => {
      let last = await counted();
      for (let quietMs = 0; quietMs < QUIET_MS; quietMs += POLL_MS) {
        await sleep(POLL_MS);
        const now = await counted();
        if (JSON.stringify(now.counts) !== JSON.stringify(last.counts)) quietMs = 0;
        last = now;
      }
      return last;
    },
    delayHops: async (hopDelays) => {
      const body: CountingRequest = { hopDelays };
      await counted({ method: "POST", body: JSON.stringify(body) });
    },
  };
}
