import { z } from "@hono/zod-openapi";
import { uuidParam } from "../../http/path-params.ts";
import { MAX_TTL_MINUTES } from "../../lib/ttl-minutes.ts";
import { type ThreadTtl, TTL_STRATEGIES } from "../threads/storage/thread-ttl.ts";

/** Each thread is a call, of which one request makes so many. */
const MAX_PRUNED = 1000;

const strategySchema = z.enum(TTL_STRATEGIES);

/** When a thread goes, from now on. */
export const ttlSchema = z
  .strictObject({
    strategy: strategySchema.nullish(),
    ttl: z.number().positive().max(MAX_TTL_MINUTES).openapi({ description: "Minutes from now on" }),
  })
  .openapi("ThreadTtl");

export function toThreadTtl(ttl: z.infer<typeof ttlSchema> | null | undefined): ThreadTtl | null {
  return ttl ? { strategy: ttl.strategy ?? "delete", minutes: ttl.ttl } : null;
}

export const pruneSchema = z
  .strictObject({
    thread_ids: z.array(uuidParam()).min(1).max(MAX_PRUNED),
    strategy: strategySchema.nullish(),
  })
  .openapi("ThreadPrune");

export const prunedSchema = z.object({ pruned_count: z.int() });
