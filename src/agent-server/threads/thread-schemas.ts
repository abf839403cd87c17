import { z } from "@hono/zod-openapi";
import { uuidParam } from "../../http/path-params.ts";
import { MAX_TTL_MINUTES } from "../../lib/time.ts";
import { type ThreadTtl, TTL_STRATEGIES } from "./storage/thread-ttl.ts";
import { checkpointSchema, commandSchema } from "./run-schemas.ts";
import { THREAD_STATUSES } from "./storage/thread-record.ts";

/** Maximum threads to prune: each is a call, and the calls of one request are limited. */
const MAX_PRUNED = 1000;

const strategySchema = z.enum(TTL_STRATEGIES);

/** The time to live of a thread, from now on. */
const ttlSchema = z
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

const jsonObject = z.record(z.string(), z.unknown());

export const threadSchema = z
  .object({
    thread_id: z.uuid(),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
    state_updated_at: z.iso.datetime(),
    metadata: jsonObject,
    status: z.enum(THREAD_STATUSES),
    config: jsonObject,
    values: z.unknown(),
    interrupts: z.record(z.string(), z.array(z.unknown())),
    error: z.unknown(),
    ttl: z
      .object({
        strategy: z.string(),
        ttl_minutes: z.number(),
        expires_at: z.iso.datetime().nullable(),
      })
      .nullish()
      .openapi({ description: "Only with `include=ttl`; null for a thread that does not expire" }),
  })
  .openapi("Thread");

const superstepSchema = z.strictObject({
  updates: z
    .array(
      z.strictObject({
        values: z.unknown().optional(),
        command: commandSchema.nullish(),
        as_node: z.string(),
      }),
    )
    .min(1),
});

export const threadCreateSchema = z
  .strictObject({
    thread_id: uuidParam().nullish(),
    metadata: jsonObject.nullish(),
    if_exists: z.enum(["raise", "do_nothing"]).nullish(),
    supersteps: z.array(superstepSchema).nullish(),
    ttl: ttlSchema.nullish(),
  })
  .openapi("ThreadCreate");

export const threadPatchSchema = z
  .strictObject({ metadata: jsonObject.optional(), ttl: ttlSchema.nullish() })
  .openapi("ThreadPatch");

export const threadStateSchema = z
  .object({
    values: z.unknown(),
    next: z.array(z.string()),
    tasks: z.array(jsonObject),
    metadata: z.unknown(),
    created_at: z.string().nullable(),
    checkpoint: z.unknown(),
    parent_checkpoint: z.unknown(),
  })
  .openapi("ThreadState");

export const stateUpdateSchema = z
  .strictObject({
    values: z.unknown().optional(),
    as_node: z.string().nullish(),
    checkpoint_id: z.string().nullish(),
    checkpoint: checkpointSchema.nullish(),
  })
  .openapi("ThreadStateUpdate");

export const stateCheckpointSchema = z
  .strictObject({ checkpoint: checkpointSchema, subgraphs: z.boolean().nullish() })
  .openapi("ThreadStateCheckpointRequest");

/** A checkpoint id, or the config or checkpoint object that contains it: SDKs send any of these. */
const beforeSchema = z.union([
  z.string(),
  checkpointSchema.extend({
    configurable: z.looseObject({ checkpoint_id: z.string() }).optional(),
  }),
]);

export const historySchema = z
  .strictObject({
    limit: z.int().min(1).max(1000).nullish(),
    before: beforeSchema.nullish(),
    metadata: jsonObject.nullish(),
    checkpoint: checkpointSchema.nullish(),
  })
  .openapi("ThreadStateSearch");

export function beforeId(before: z.infer<typeof beforeSchema> | null | undefined): string | null {
  if (before === null || before === undefined) return null;
  if (typeof before === "string") return before;
  return (before.configurable ?? before).checkpoint_id ?? null;
}
