import { z } from "zod";

const count = (fallback: number) => z.int().positive().default(fallback);

/**
 * Every time and size that governs an export: the one table of them. What the variable EXPORT_LIMITS
 * leaves out is as here.
 */
export const exportLimitsSchema = z.strictObject({
  /** Retries of an export run, and the time between them. */
  retries: z.int().nonnegative().default(20),
  retry_delay_seconds: count(30),
  /** How long one attempt of an export run may take; exceeding it costs a retry. */
  run_timeout_seconds: count(4 * 3600),
  /** How long a whole export may take, from its first step on. */
  export_timeout_seconds: count(72 * 3600),
  runs_per_export: count(45),
  /** How long after its range has ended an export of a schedule begins. */
  schedule_delay_seconds: count(600),
  /** Exports of one schedule that have not ended, before it spawns more. */
  spawned_at_once: count(15),
  /** Days that one export may span. */
  days_per_export: count(3660),
  /** How long a step that says nothing keeps others from taking over. */
  lease_seconds: count(120),
  /** Steps in a row that may end without a word before that counts as a failed attempt. */
  interruptions: count(5),
  /** How long one request to the bucket may take, and how often it is sent before the step fails. */
  request_timeout_seconds: count(60),
  request_attempts: count(3),
  rows_per_file: count(100_000),
  /** The size of values before compression. */
  bytes_per_file: count(512 * 1024 * 1024),
  /** Payloads that one file may take from R2: each is a subrequest, of which there are 10,000. */
  objects_per_file: count(2000),
  rows_per_group: count(20_000),
  /** The size of values before compression; what a step holds in memory is a small multiple of it. */
  bytes_per_group: count(8 * 1024 * 1024),
  /** The size of a part of a multipart upload: 5 MiB at least, or S3 refuses it. */
  part_bytes: count(8 * 1024 * 1024),
});

export type ExportLimits = z.infer<typeof exportLimitsSchema>;
