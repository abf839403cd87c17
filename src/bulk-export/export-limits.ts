import { z } from "zod";

const count = (fallback: number) => z.int().positive().default(fallback);

/** All times and sizes that govern an export. The variable EXPORT_LIMITS overrides these defaults. */
export const exportLimitsSchema = z.strictObject({
  /** Maximum retries of an export run, and the time between them. */
  retries: z.int().nonnegative().default(20),
  retry_delay_seconds: count(30),
  /** Maximum duration of one attempt of an export run; exceeding it costs a retry. */
  run_timeout_seconds: count(4 * 3600),
  /** Maximum duration of a whole export, from its start. */
  export_timeout_seconds: count(72 * 3600),
  runs_per_export: count(45),
  /** Delay between the end of a schedule's range and the start of its export. */
  schedule_delay_seconds: count(600),
  /** Maximum unfinished exports of one schedule; it spawns no more while it has so many. */
  spawned_at_once: count(15),
  /** Maximum days that one export may span. */
  days_per_export: count(3660),
  /** How long a step that stops renewing its lease keeps others from taking over. */
  lease_seconds: count(120),
  /** Consecutive interrupted steps that count as a failed attempt. */
  interruptions: count(5),
  /** Maximum duration of one request to the bucket, and how often it is sent before the step fails. */
  request_timeout_seconds: count(60),
  request_attempts: count(3),
  rows_per_file: count(100_000),
  /** Maximum size of a file's values before compression. */
  bytes_per_file: count(512 * 1024 * 1024),
  /** Maximum payloads of one file in R2. Each is a subrequest, of which an invocation has 10,000. */
  objects_per_file: count(2000),
  rows_per_group: count(20_000),
  /** Maximum size of a row group's values before compression; a step's memory is a small multiple of it. */
  bytes_per_group: count(8 * 1024 * 1024),
  /** The size of a part of a multipart upload. S3 refuses less than 5 MiB. */
  part_bytes: count(8 * 1024 * 1024),
});

export type ExportLimits = z.infer<typeof exportLimitsSchema>;
