import { z } from "zod";
import { isFirstOf, seconds, table, wholeNumber } from "../lib/settings.ts";

/** Workspaces by the binding of the D1 database that their threads are listed in; "*" is all that are not named. */
const threadDatabasesSchema = z
  .record(z.string(), z.array(z.union([z.uuid(), z.literal("*")])))
  .refine((databases) => isEachOnce(Object.values(databases).flat()), {
    error: "a workspace is named twice",
  });

const isEachOnce = (values: string[]): boolean => new Set(values).size === values.length;

export const agentServerSettings = z
  .object({
    MAX_BODY_BYTES: wholeNumber(32 * 1024 * 1024),
    RESUMABLE_STREAM_TTL_SECONDS: seconds(120),
    RUN_TIMEOUT_SECONDS: seconds(3600),
    RECORD_TRACES: isFirstOf(["on", "off"], true),
    THREAD_DATABASES: table(threadDatabasesSchema),
  })
  .transform((vars) => ({
    maxBodyBytes: vars.MAX_BODY_BYTES,
    /** How long the events of a run that has ended are kept for those who join its stream again. */
    resumableStreamTtlMs: vars.RESUMABLE_STREAM_TTL_SECONDS,
    runTimeoutMs: vars.RUN_TIMEOUT_SECONDS,
    /** Whether runs of the agent server leave traces. */
    recordTraces: vars.RECORD_TRACES,
    threadDatabases: vars.THREAD_DATABASES,
  }));
