import { insideEntrypoint } from "./agent-server/inside-entrypoint.ts";
import { createApp } from "./app.ts";
import { consumeExportSteps } from "./bulk-export/execution/consume-steps.ts";
import { sweepExports } from "./bulk-export/sweep.ts";
import { sweepOAuth } from "./control-plane/oauth/sweep.ts";
import { consumeRollouts } from "./control-plane/deployments/rollout/consume-rollouts.ts";
import { sweepControlPlane } from "./control-plane/deployments/rollout/sweep.ts";
import { sweepTracing } from "./tracing/sweep.ts";

export { GraphHost } from "#project";
export { StoreObject } from "./agent-server/store/store-object.ts";
export { DeploymentLogObject } from "./deployment-log/deployment-log-object.ts";
export { ThreadIndexObject } from "./agent-server/thread-index/thread-index-object.ts";
export { Outbound } from "./revision-host/outbound.ts";
export { RevisionTail } from "./revision-host/tail.ts";
export { RateLimitObject } from "./rate-limits/rate-limit-object.ts";
export { HeldSpansObject } from "./tracing/otlp/held-spans-object.ts";
export { RunIndexObject } from "./tracing/run-index/run-index-object.ts";
export { RunShardObject } from "./tracing/run-shard/run-shard-object.ts";
export { ThreadObject } from "./agent-server/threads/thread-object.ts";

const app = createApp();

export const AgentServer = insideEntrypoint((request, env, ctx) => app.fetch(request, env, ctx));

export default {
  fetch: (request, env, ctx) => app.fetch(request, env, ctx),
  scheduled: async ({ scheduledTime }, env) => {
    const sweeps = await Promise.allSettled([
      sweepExports(env, scheduledTime),
      sweepControlPlane(env, scheduledTime),
      sweepOAuth(env, scheduledTime),
      sweepTracing(env, scheduledTime),
    ]);
    // Only now: an error ends the invocation, and what has not been done then.
    for (const sweep of sweeps) if (sweep.status === "rejected") throw sweep.reason;
  },
  queue: (batch, env, ctx) =>
    batch.queue.startsWith("threadworks-rollouts")
      ? consumeRollouts(batch, env, ctx.exports)
      : consumeExportSteps(batch, env),
} satisfies ExportedHandler<Env>;
