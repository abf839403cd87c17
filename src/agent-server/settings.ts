import { z } from "zod";
import { isFirstOf, seconds, table, wholeNumber } from "../lib/settings.ts";

export const agentServerSettings = z
  .object({
    MAX_BODY_BYTES: wholeNumber(32 * 1024 * 1024),
    RESUMABLE_STREAM_TTL_SECONDS: seconds(120),
    RUN_TIMEOUT_SECONDS: seconds(3600),
    RECORD_TRACES: isFirstOf(["on", "off"], true),
    THREAD_DATABASES: table(z.record(z.string(), z.array(z.union([z.uuid(), z.literal("*")])))),
  })
  .transform((vars) => ({
    maxBodyBytes: vars.MAX_BODY_BYTES,
    /** How long the events of a run that has ended are kept for those who join its stream again. */
    resumableStreamTtlMs: vars.RESUMABLE_STREAM_TTL_SECONDS,
    runTimeoutMs: vars.RUN_TIMEOUT_SECONDS,
    /** Whether runs of the agent server leave traces. */
    recordTraces: vars.RECORD_TRACES,
    /** Workspaces by the binding of the D1 database that their threads are listed in; "*" is all that are not named. */
    threadDatabases: vars.THREAD_DATABASES,
  }));
