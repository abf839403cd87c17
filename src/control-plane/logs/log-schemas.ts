import { z } from "@hono/zod-openapi";
import { integerParam } from "../../http/query-params.ts";
import { timeValue } from "../../http/time-value.ts";
import { LOG_KINDS, LOG_LINE_LEVELS } from "../../deployment-log/log-line.ts";

const DEFAULT_LINES = 100;
const MAX_LINES = 1000;
const MAX_QUERY_CHARS = 1000;

const DEFAULT_DAYS = 31;
const MAX_DAYS = 100;

/** Digits of a log id, which is the line's time in microseconds. Ids sort in the order of the lines. */
export const LOG_ID_DIGITS = 16;

/** Fields that are null count as missing. */
export const logQuerySchema = z
  .strictObject({
    order: z
      .enum(["asc", "desc"])
      .nullish()
      .describe("The order by time; the newest lines come first by default"),
    limit: z
      .int()
      .min(1)
      .max(MAX_LINES)
      .nullish()
      .transform((limit) => limit ?? DEFAULT_LINES)
      .describe("A page may have fewer lines and still not be the last"),
    offset: z
      .string()
      .regex(new RegExp(`^\\d{${LOG_ID_DIGITS}}$`), "Input should be the next_offset of a page")
      .nullish()
      .describe("The next_offset of the page before"),
    level: z.enum(LOG_LINE_LEVELS).nullish().describe("The lowest level of the lines"),
    kind: z.enum(LOG_KINDS).nullish().describe("Only lines of this kind, among those of the path"),
    query: z
      .string()
      .max(MAX_QUERY_CHARS)
      .nullish()
      .describe("A text that the message contains; the case of ASCII letters does not matter"),
    start_time: timeValue().nullish().describe("The earliest time of the lines, inclusive"),
    end_time: timeValue().nullish().describe("The latest time of the lines, exclusive"),
  })
  .openapi("LogQuery");

export type LogRequest = z.infer<typeof logQuerySchema>;

export const logPageSchema = z
  .object({
    logs: z.array(
      z.object({
        id: z.string(),
        timestamp: z.iso.datetime(),
        level: z.enum(LOG_LINE_LEVELS),
        message: z.string(),
        kind: z.enum(LOG_KINDS),
        revision_id: z.uuid().nullable(),
      }),
    ),
    next_offset: z.string().nullable(),
  })
  .openapi("LogPage");

export type LogPageJson = z.infer<typeof logPageSchema>;

export const usageQuery = z.strictObject({
  limit: integerParam({ min: 1, max: MAX_DAYS })
    .optional()
    .transform((limit) => limit ?? DEFAULT_DAYS),
  offset: integerParam({ min: 0 })
    .optional()
    .transform((offset) => offset ?? 0),
});

export const usageSchema = z
  .object({
    resources: z.array(
      z.object({
        day: z.iso.date().describe("In UTC"),
        requests: z.int(),
        refused: z.int(),
        bytes_sent: z.int(),
        bytes_received: z.int(),
        storage_operations: z.int().describe("Operations on the store, and reads of checkpoints"),
        storage_rows: z.int().describe("Rows that the platform looked at for them"),
        storage_bytes: z.int().describe("Bytes that the platform read and wrote for them"),
      }),
    ),
    offset: z.int().describe("The offset of the next page"),
  })
  .openapi("DeploymentUsage");
