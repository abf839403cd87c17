import { z } from "zod";

import { MAX_DIMENSIONS, MAX_TTL_MINUTES } from "../graph-runtime/store-operations.ts";
import { DEFAULT_STORE } from "../graph-runtime/store-settings.ts";

const MAX_TEXT_CHARS = 10_000;

/** How long a description may be as JSON: it is stored with its revision. */
const MAX_CHARS = 500_000;

const minutes = z.number().positive().max(MAX_TTL_MINUTES);

/** Code that was built before stores had settings tells none. */
const storeSettings = z.object({
  ttl: z.object({
    refresh_on_read: z.boolean(),
    default_ttl: minutes.nullable(),
    sweep_interval_minutes: minutes,
  }),
  index: z
    .object({
      dims: z.int().positive().max(MAX_DIMENSIONS),
      fields: z.array(z.string().max(MAX_TEXT_CHARS)).max(100),
    })
    .nullable(),
});

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
    http: z.object({ disable_mcp: z.boolean(), disable_a2a: z.boolean() }).optional(),
    // Hosts of earlier builds say nothing of webhooks.
    webhooks: z
      .object({
        disabled: z.boolean(),
        require_https: z.boolean(),
        allowed_domains: z.array(z.string().max(256)).max(1000).nullable(),
        allowed_ports: z.array(z.int()).max(1000).nullable(),
        max_url_length: z.int().positive().nullable(),
        disable_loopback: z.boolean(),
        has_headers: z.boolean(),
      })
      .optional(),
    store: storeSettings.default(DEFAULT_STORE),
  })
  .refine((description) => JSON.stringify(description).length <= MAX_CHARS, {
    message: `It has more than ${MAX_CHARS} characters`,
    abort: true,
  });

export type ProjectDescription = z.infer<typeof projectDescription>;
