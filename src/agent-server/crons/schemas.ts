import { z } from "@hono/zod-openapi";
import { uuidParam } from "../../http/path-params.ts";
import { timeValue } from "../../http/time-value.ts";
import { jsonFilter } from "../json-filter.ts";
import { runCreateStatelessSchema } from "../threads/run-schemas.ts";
import { isTimezone, scheduleFault } from "./schedule.ts";
import type { CronRow } from "../../db/crons-repo.ts";
import type { Principal } from "../../lib/principal.ts";
import { toIso } from "../../lib/time.ts";

const jsonObject = z.record(z.string(), z.unknown());

const MAX_SCHEDULE_CHARS = 200;

const scheduleSchema = z
  .string()
  .min(1)
  .max(MAX_SCHEDULE_CHARS)
  .superRefine((schedule, ctx) => {
    const message = scheduleFault(schedule);
    if (message !== null) {
      ctx.addIssue({ code: "custom", message, params: { type: "cron_parsing" } });
    }
  })
  .openapi({ description: "Minute, hour, day of the month, month, day of the week" });

const timezoneSchema = z
  .string()
  .refine(isTimezone, {
    message: "Input should be the IANA name of a time zone",
    params: { type: "timezone_parsing" },
  })
  .openapi({ description: "The IANA name of the schedule's time zone; UTC without one" });

/** The fields of a run that a cron stores, and passes to each run that it creates. */
const runFields = runCreateStatelessSchema.pick({
  input: true,
  config: true,
  context: true,
  interrupt_before: true,
  interrupt_after: true,
  stream_mode: true,
  stream_subgraphs: true,
  stream_resumable: true,
  durability: true,
  checkpoint_during: true,
  multitask_strategy: true,
  webhook: true,
}).shape;

const {
  multitask_strategy: _strategy,
  checkpoint_during: _during,
  ...changeableRunFields
} = runFields;

const cronFields = {
  timezone: timezoneSchema.nullish(),
  end_time: timeValue().nullish(),
  enabled: z.boolean().nullish(),
  metadata: jsonObject.nullish(),
};

const cronCreate = z.strictObject({
  ...runFields,
  ...cronFields,
  assistant_id: runCreateStatelessSchema.shape.assistant_id,
  schedule: scheduleSchema,
});

const onRunCompleted = z.enum(["delete", "keep"]).nullish().openapi({
  description:
    "Whether the thread that was created for a run is kept or deleted when the run has ended",
});

export const cronCreateSchema = cronCreate
  .extend({ on_run_completed: onRunCompleted })
  .openapi("CronCreate");

export const threadCronCreateSchema = cronCreate
  // The thread does not belong to the cron, so a cron may not delete it.
  .extend({ on_run_completed: z.literal("keep").nullish() })
  .openapi("ThreadCronCreate");

export const cronPatchSchema = z
  .strictObject({
    ...changeableRunFields,
    ...cronFields,
    schedule: scheduleSchema.nullish(),
    on_run_completed: onRunCompleted,
  })
  .openapi("CronPatch");

export type CronCreate = z.infer<typeof cronCreateSchema>;

export type CronPatch = z.infer<typeof cronPatchSchema>;

const CRON_FIELDS = [
  "cron_id",
  "assistant_id",
  "thread_id",
  "on_run_completed",
  "end_time",
  "schedule",
  "timezone",
  "created_at",
  "updated_at",
  "user_id",
  "payload",
  "next_run_date",
  "metadata",
  "enabled",
] as const;

const filterFields = {
  assistant_id: z.string().min(1).nullish(),
  thread_id: uuidParam().nullish(),
  metadata: jsonFilter().nullish(),
};

export const cronSearchSchema = z
  .strictObject({
    ...filterFields,
    enabled: z.boolean().nullish(),
    limit: z.int().min(1).max(1000).nullish(),
    offset: z.int().min(0).nullish(),
    sort_by: z
      .enum([
        "cron_id",
        "assistant_id",
        "thread_id",
        "next_run_date",
        "end_time",
        "created_at",
        "updated_at",
      ])
      .nullish(),
    sort_order: z.enum(["asc", "desc"]).nullish(),
    select: z.array(z.enum([...CRON_FIELDS, "now"])).nullish(),
  })
  .openapi("CronSearchRequest");

export type CronSearch = z.infer<typeof cronSearchSchema>;

export const cronCountSchema = z.strictObject(filterFields).openapi("CronCountRequest");

export type CronCount = z.infer<typeof cronCountSchema>;

export const cronSchema = z
  .object({
    cron_id: z.uuid(),
    assistant_id: z.string(),
    thread_id: z.uuid().nullable(),
    on_run_completed: z.enum(["delete", "keep"]).nullable(),
    end_time: z.iso.datetime().nullable(),
    schedule: z.string(),
    timezone: z.string().nullable(),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
    user_id: z.string().nullable(),
    payload: jsonObject,
    next_run_date: z.iso.datetime().nullable(),
    metadata: jsonObject,
    enabled: z.boolean(),
  })
  .openapi("Cron");

export const foundCronsSchema = z.array(
  cronSchema.partial().extend({ now: z.iso.datetime().optional() }).openapi("FoundCron"),
);

/** A cron as the API returns it. */
export type CronJson = {
  cron_id: string;
  assistant_id: string;
  thread_id: string | null;
  on_run_completed: "delete" | "keep" | null;
  end_time: string | null;
  schedule: string;
  timezone: string | null;
  created_at: string;
  updated_at: string;
  user_id: string | null;
  payload: Record<string, unknown>;
  next_run_date: string | null;
  metadata: Record<string, unknown>;
  enabled: boolean;
};

export function toCronJson(row: CronRow): CronJson {
  return {
    cron_id: row.cron_id,
    assistant_id: row.assistant_id,
    thread_id: row.thread_id,
    on_run_completed: row.on_run_completed,
    end_time: isoOf(row.end_time),
    schedule: row.schedule,
    timezone: row.timezone,
    created_at: toIso(row.created_at),
    updated_at: toIso(row.updated_at),
    user_id: principalOf(row)?.user.identity ?? null,
    payload: JSON.parse(row.payload),
    next_run_date: isoOf(row.next_run_at),
    metadata: JSON.parse(row.metadata),
    enabled: row.enabled === 1,
  };
}

/** Returns the principal that the cron's runs act for. */
export function principalOf({ principal }: Pick<CronRow, "principal">): Principal | null {
  return principal === null ? null : JSON.parse(principal);
}

function isoOf(millis: number | null): string | null {
  return millis === null ? null : toIso(millis);
}
