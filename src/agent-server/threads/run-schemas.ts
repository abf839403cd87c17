import { z } from "@hono/zod-openapi";
import { STREAM_MODES } from "../../graph-runtime/protocol.ts";
import { uuidParam } from "../../http/path-params.ts";
import type { RunPayload } from "./contract/run-request.ts";
import { MULTITASK_STRATEGIES, RUN_STATUSES } from "./storage/run-row.ts";

const jsonObject = z.record(z.string(), z.unknown());

/** Longest delay that a timer accepts. */
const MAX_TIMEOUT_MS = 2_147_483_647;

export const configSchema = z
  .strictObject({
    tags: z.array(z.string()).optional(),
    recursion_limit: z.int().min(1).optional(),
    run_name: z.string().nullish(),
    max_concurrency: z.int().min(1).nullish(),
    timeout: z.int().min(1).max(MAX_TIMEOUT_MS).nullish().openapi({ description: "Milliseconds" }),
    configurable: jsonObject.optional(),
    metadata: jsonObject.optional(),
  })
  .openapi("Config");

export const checkpointSchema = z
  .strictObject({
    // SDKs send back the checkpoint as they got it, which includes its thread.
    thread_id: z.string().optional(),
    checkpoint_id: z.string().nullish(),
    checkpoint_ns: z.string().nullish(),
    checkpoint_map: z.record(z.string(), z.string()).nullish(),
  })
  .openapi("CheckpointConfig");

const sendSchema = z.strictObject({ node: z.string(), input: z.unknown() }).openapi("Send");

export const commandSchema = z
  .strictObject({
    goto: z.union([z.string(), sendSchema, z.array(z.union([z.string(), sendSchema]))]).nullish(),
    update: z.union([jsonObject, z.array(z.tuple([z.string(), z.unknown()]))]).nullish(),
    resume: z.unknown().optional(),
  })
  .openapi("Command");

const nodeNames = z.union([z.literal("*"), z.array(z.string())]);

const streamMode = z.enum(STREAM_MODES);

/** Each key takes a row, and a link in an event of the run. */
const MAX_FEEDBACK_KEYS = 20;

const runCreate = z.strictObject({
  assistant_id: z.string().min(1).openapi({ description: "An assistant's id, or a graph name." }),
  input: z.unknown().optional(),
  command: commandSchema.nullish(),
  checkpoint: checkpointSchema.nullish(),
  checkpoint_id: z.string().nullish(),
  metadata: jsonObject.nullish(),
  config: configSchema.nullish(),
  context: z.unknown().optional(),
  interrupt_before: nodeNames.nullish(),
  interrupt_after: nodeNames.nullish(),
  stream_mode: z.union([streamMode, z.array(streamMode)]).nullish(),
  stream_subgraphs: z.boolean().nullish(),
  stream_resumable: z.boolean().nullish(),
  on_disconnect: z.enum(["cancel", "continue"]).nullish(),
  // Only has a meaning inside the Python client, which sends it all the same.
  raise_error: z.boolean().nullish(),
  multitask_strategy: z.enum(MULTITASK_STRATEGIES).nullish(),
  after_seconds: z.number().min(0).max(31_536_000).nullish(),
  durability: z.enum(["sync", "async", "exit"]).nullish(),
  checkpoint_during: z.boolean().nullish(),
  webhook: z.string().min(1).max(65_536).nullish().openapi({
    description: "Called when the run ends: a URL, or a path of the deployment itself.",
  }),
  feedback_keys: z.array(z.string().min(1).max(180)).max(MAX_FEEDBACK_KEYS).nullish(),
  langsmith_tracer: z
    .strictObject({
      project_name: z.string().min(1).max(1000).nullish(),
      example_id: uuidParam().nullish(),
    })
    .nullish(),
});

export const runCreateStatefulSchema = runCreate
  .extend({ if_not_exists: z.enum(["reject", "create"]).nullish() })
  .openapi("RunCreateStateful");

export const runCreateStatelessSchema = runCreate
  .extend({
    on_completion: z.enum(["delete", "keep"]).nullish(),
    // The SDK has one payload type for both kinds of run; a stateless run always creates its thread.
    if_not_exists: z.enum(["reject", "create"]).nullish(),
  })
  .openapi("RunCreateStateless");

/** Maximum number of named runs, which their thread cancels in one turn. */
const MAX_CANCELLED = 1000;

/** Maximum runs in a batch: each takes several calls, and the calls of one request are limited. */
const MAX_BATCH = 100;

export const runBatchSchema = z
  .array(runCreateStatelessSchema)
  .min(1)
  .max(MAX_BATCH)
  .openapi("RunBatchCreate");

const unused = z.null().optional();

/** The runs to cancel: those that are named, or those with a status. */
export const runsCancelSchema = z
  .union([
    z.strictObject({
      status: z.enum(["pending", "running", "all"]),
      thread_id: unused,
      run_ids: unused,
    }),
    z.strictObject({
      status: unused,
      thread_id: uuidParam(),
      run_ids: z.array(uuidParam()).min(1).max(MAX_CANCELLED),
    }),
  ])
  .openapi("RunsCancel");

export type CancelTarget =
  | { thread_id: string; run_ids: string[] }
  | { status: "pending" | "running" | "all" };

export function toCancelTarget(body: z.infer<typeof runsCancelSchema>): CancelTarget {
  const { status, thread_id, run_ids } = body;
  return status ? { status } : { thread_id, run_ids };
}

export type RunCreateBody = z.infer<typeof runCreate>;

export const runSchema = z
  .object({
    run_id: z.uuid(),
    thread_id: z.uuid(),
    assistant_id: z.string(),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
    status: z.enum(RUN_STATUSES),
    metadata: jsonObject,
    kwargs: jsonObject,
    multitask_strategy: z.enum(MULTITASK_STRATEGIES),
    webhook_delivery: z
      .object({
        status: z.enum(["waiting", "pending", "delivered", "failed"]),
        attempts: z.int(),
        last_attempt_at: z.iso.datetime().nullable(),
        error: z.string().nullable(),
      })
      .optional(),
  })
  .openapi("Run");

export const RUN_FIELDS = [
  "run_id",
  "thread_id",
  "assistant_id",
  "created_at",
  "updated_at",
  "status",
  "metadata",
  "kwargs",
  "multitask_strategy",
  "webhook_delivery",
] as const satisfies (keyof z.infer<typeof runSchema>)[];

/** Returns the body with all defaults filled in. */
export function toRunPayload(body: RunCreateBody): RunPayload {
  const checkpoint = body.checkpoint ?? (body.checkpoint_id ? {} : null);
  return {
    input: body.input ?? null,
    command: body.command ?? null,
    checkpoint:
      checkpoint === null
        ? null
        : {
            checkpoint_id: checkpoint.checkpoint_id ?? body.checkpoint_id ?? undefined,
            checkpoint_ns: checkpoint.checkpoint_ns ?? undefined,
            checkpoint_map: checkpoint.checkpoint_map,
          },
    metadata: body.metadata ?? {},
    config: body.config ?? {},
    context: body.context ?? null,
    interrupt_before: body.interrupt_before ?? null,
    interrupt_after: body.interrupt_after ?? null,
    stream_mode: streamModes(body.stream_mode),
    stream_subgraphs: body.stream_subgraphs ?? false,
    stream_resumable: body.stream_resumable ?? false,
    multitask_strategy: body.multitask_strategy ?? "enqueue",
    after_seconds: body.after_seconds ?? 0,
    feedback_keys: body.feedback_keys ?? null,
    langsmith_tracer: toTracer(body.langsmith_tracer),
    durability: body.durability ?? legacyDurability(body.checkpoint_during),
    ...(body.webhook ? { webhook: body.webhook } : {}),
  };
}

function streamModes(mode: RunCreateBody["stream_mode"]): RunPayload["stream_mode"] {
  const modes = Array.isArray(mode) ? [...new Set(mode)] : [mode ?? ("values" as const)];
  return modes.length > 0 ? modes : ["values"];
}

function toTracer(tracer: RunCreateBody["langsmith_tracer"]): RunPayload["langsmith_tracer"] {
  if (!tracer) return null;
  return { project_name: tracer.project_name ?? null, example_id: tracer.example_id ?? null };
}

/** Clients sent `checkpoint_during` before `durability` existed. */
function legacyDurability(checkpointDuring: boolean | null | undefined): RunPayload["durability"] {
  return checkpointDuring === false ? "exit" : "async";
}
