import { cronSweep } from "./agent-server/crons/work.ts";
import { insideEntrypoint } from "./agent-server/inside-entrypoint.ts";
import { webhookKeyRotation } from "./agent-server/webhooks/signing-keys.ts";
import { threadMoveSweep } from "./agent-server/threads/index/move-threads.ts";
import { createApp } from "./app.ts";
import { destinationCredentials } from "./bulk-export/destinations/credentials.ts";
import { exportQueue, exportSweep } from "./bulk-export/work.ts";
import { deploymentQueue, deploymentSweep } from "./control-plane/deployments/work.ts";
import { clientSecrets, userTokens } from "./control-plane/oauth/sealed-secrets.ts";
import { oauthSweep } from "./control-plane/oauth/start-attempt.ts";
import { revisionSecrets } from "./revision-host/revision-secrets.ts";
import { sweepTracing } from "./tracing/sweep.ts";
import { consume } from "./work/queue.ts";
import { runSweep } from "./work/sweep.ts";

export { GraphHost } from "#project";
export { BuildPackages } from "./control-plane/builds/build-packages.ts";
export { AssistantCacheObject } from "./agent-server/assistants/assistant-cache-object.ts";
export { StoreObject } from "./agent-server/store/store-object.ts";
export { DeploymentLogObject } from "./deployment-log/deployment-log-object.ts";
export { ThreadCommands } from "./agent-server/threads/commands/execute-command.ts";
export { ThreadIndexObject } from "./agent-server/threads/index/thread-index-object.ts";
export { Outbound } from "./revision-host/outbound.ts";
export { RevisionTail } from "./revision-host/tail.ts";
export { RateLimitObject } from "./rate-limits/rate-limit-object.ts";
export { HeldSpansObject } from "./tracing/ingest/held-spans-object.ts";
export { RunIndexObject } from "./tracing/run-index/run-index-object.ts";
export { RunShardObject } from "./tracing/shard/run-shard-object.ts";
export { TraceRecorderObject } from "./agent-server/threads/traces/trace-recorder-object.ts";
export { ThreadObject } from "./agent-server/threads/object/thread-object.ts";

const app = createApp();

export const AgentServer = insideEntrypoint((request, env, ctx) => app.fetch(request, env, ctx));

/** The consumers of queue messages, which process the rows that the messages name. */
const QUEUES = [exportQueue, deploymentQueue];

/** All data that is stored sealed, and is sealed again after a change of ENCRYPTION_KEYS. */
const SEALED = [
  revisionSecrets,
  destinationCredentials,
  clientSecrets,
  userTokens,
  webhookKeyRotation,
];

/** The tasks that run once a minute, concurrently. */
const SWEEPS = [exportSweep, deploymentSweep, oauthSweep, threadMoveSweep, SEALED];

export default {
  fetch: (request, env, ctx) => app.fetch(request, env, ctx),
  scheduled: async ({ scheduledTime }, env, ctx) => {
    const sweeps = await Promise.allSettled([
      ...[...SWEEPS, cronSweep(ctx.exports)].map((tasks) => runSweep(env, scheduledTime, tasks)),
      sweepTracing(env, scheduledTime),
    ]);
    // Thrown only after all have ended, because an error ends the invocation, including unfinished sweeps.
    for (const sweep of sweeps) if (sweep.status === "rejected") throw sweep.reason;
  },
  queue: (batch, env, ctx) => consume(batch, QUEUES, env, ctx.exports),
} satisfies ExportedHandler<Env>;
