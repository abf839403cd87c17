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

/** Longer than the alarm with which a thread looks after itself when a run has ended. */
const QUIET_MS = 12_000;
const POLL_MS = 500;

/** The platform, and what it has asked of Cloudflare. */
export type CountedPlatform = TracingPlatform & {
  /** Of the agent server. */
  agentUrl: string;
  counted: () => Promise<CountingAnswer>;
  /** The same, when nothing more is being done: what follows an answer is counted, too. */
  settled: () => Promise<CountingAnswer>;
  delayHops: (hopDelays: HopDelays) => Promise<void>;
};

export async function startCountedPlatform(stateDir: string): Promise<CountedPlatform> {
  const platform = await startTracingPlatform(stateDir, {
    workerMain: join(REPO_ROOT, "bench/counting/worker.ts"),
    // As it is deployed, but that events which are kept go while they are still counted.
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
