import { z } from "zod";
import { MAX_TTL_MINUTES } from "../lib/ttl-minutes.ts";

const MAX_TEXT_CHARS = 10_000;

/** How long a description may be as JSON: it is stored with its revision. */
const MAX_CHARS = 500_000;

/**
 * What a graph host says of itself. That of a deployment is its own code: the answer is as trustworthy
 * as the code is, each time that it is asked.
 */
export const projectDescription = z
  .object({
    graphs: z
      .array(
        z.object({
          graph_id: z.string().min(1).max(256),
          description: z.string().max(MAX_TEXT_CHARS).nullable(),
        }),
      )
      .min(1)
      .max(1000),
    auth: z
      .object({
        events: z.array(z.string().max(256)).max(1000),
        studio: z.boolean(),
        cache: z
          .object({
            headers: z.array(z.string().max(256)).max(100),
            ttl_ms: z.number().positive(),
            max_size: z.int().positive(),
          })
          .nullable(),
      })
      .nullable(),
    thread_ttl: z
      .object({
        strategy: z.enum(["delete", "keep_latest"]),
        minutes: z.number().positive().max(MAX_TTL_MINUTES),
      })
      .nullish(),
    assistants: z
      .record(
        z.string(),
        z.object({ config: z.record(z.string(), z.unknown()), context: z.unknown() }),
      )
      .nullish(),
  })
  .refine((description) => JSON.stringify(description).length <= MAX_CHARS, {
    message: `It has more than ${MAX_CHARS} characters`,
    abort: true,
  });

export type ProjectDescription = z.infer<typeof projectDescription>;
