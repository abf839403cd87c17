import { createApp } from "./app.ts";
import { consumeExportSteps } from "./bulk-export/execution/consume-steps.ts";
import { sweepExports } from "./bulk-export/sweep.ts";
import { sweepTracing } from "./tracing/sweep.ts";

export { GraphHost } from "#project";
export { StoreObject } from "./agent-server/store/store-object.ts";
export { ThreadIndexObject } from "./agent-server/thread-index/thread-index-object.ts";
export { HeldSpansObject } from "./tracing/otlp/held-spans-object.ts";
export { RunIndexObject } from "./tracing/run-index/run-index-object.ts";
export { RunShardObject } from "./tracing/run-shard/run-shard-object.ts";
export { ThreadObject } from "./agent-server/threads/thread-object.ts";

const app = createApp();

export default {
  fetch: (request, env, ctx) => app.fetch(request, env, ctx),
  scheduled: async ({ scheduledTime }, env) => {
    // Exports first, of which each part stands alone: an error of the other ends the invocation.
    await sweepExports(env, scheduledTime);
    await sweepTracing(env, scheduledTime);
  },
  queue: (batch, env) => consumeExportSteps(batch, env),
} satisfies ExportedHandler<Env>;
