import { z } from "@hono/zod-openapi";
import { integerParam } from "../../http/query-params.ts";
import { timeValue } from "../../http/time-value.ts";
import { LOG_KINDS, LOG_LINE_LEVELS } from "../../deployment-log/log-line.ts";

const DEFAULT_LINES = 100;
const MAX_LINES = 1000;
const MAX_QUERY_CHARS = 1000;

const DEFAULT_DAYS = 31;
const MAX_DAYS = 100;

/** The digits of a line's time in microseconds: ids sort as the lines do. */
export const LOG_ID_DIGITS = 16;

/** What is null counts as missing. */
export const logQuerySchema = z
  .strictObject({
    order: z
      .enum(["asc", "desc"])
      .nullish()
      .describe("By time; the newest lines first unless it says otherwise"),
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
    level: z.enum(LOG_LINE_LEVELS).nullish().describe("The mildest level of the lines"),
    kind: z.enum(LOG_KINDS).nullish().describe("Only lines of this kind, of those that are here"),
    query: z
      .string()
      .max(MAX_QUERY_CHARS)
      .nullish()
      .describe("A text in the message; the case of ASCII letters does not matter"),
    start_time: timeValue().nullish().describe("The first time"),
    end_time: timeValue().nullish().describe("The time before which lines are listed"),
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
        storage_rows: z.int().describe("What the platform looked at for them"),
        storage_bytes: z.int().describe("What it read and wrote for them"),
      }),
    ),
    offset: z.int().describe("Of the next page"),
  })
  .openapi("DeploymentUsage");
