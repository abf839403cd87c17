import { z } from "zod";
import { isFirstOf, seconds, table, wholeNumber } from "../lib/settings.ts";

/** Workspaces, keyed by the binding of the D1 database that indexes their threads; "*" stands for all others. */
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
    /** Milliseconds for which the events of an ended run are kept for clients that rejoin its stream. */
    resumableStreamTtlMs: vars.RESUMABLE_STREAM_TTL_SECONDS,
    runTimeoutMs: vars.RUN_TIMEOUT_SECONDS,
    /** Whether runs of the agent server record traces. */
    recordTraces: vars.RECORD_TRACES,
    threadDatabases: vars.THREAD_DATABASES,
  }));
