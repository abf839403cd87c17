import { createApp } from "./app.ts";

export { GraphHost } from "#project";
export { StoreObject } from "./agent-server/store/store-object.ts";
export { ThreadIndexObject } from "./agent-server/thread-index/thread-index-object.ts";
export { HeldSpansObject } from "./tracing/otlp/held-spans-object.ts";
export { RunIndexObject } from "./tracing/run-index/run-index-object.ts";
export { RunShardObject } from "./tracing/run-shard/run-shard-object.ts";
export { ThreadObject } from "./agent-server/threads/thread-object.ts";
import { sweepTracing } from "./tracing/sweep.ts";

const app = createApp();

export default {
  fetch: (request, env, ctx) => app.fetch(request, env, ctx),
  scheduled: (controller, env) => sweepTracing(env, controller.scheduledTime),
} satisfies ExportedHandler<Env>;
