import { z } from "zod";
import { DISABLEABLE, type HttpInfo } from "../graph-runtime/http-info.ts";
import { MAX_TTL_MINUTES } from "../lib/time.ts";
import { MAX_DIMENSIONS } from "../graph-runtime/store-operations.ts";
import { DEFAULT_STORE } from "../graph-runtime/store-settings.ts";

const MAX_TEXT_CHARS = 10_000;

/** Maximum characters of a description as JSON: it is stored with its revision. */
const MAX_CHARS = 500_000;

const names = (count: number) => z.array(z.string().max(256)).max(count);

const headerChoice = z.object({ includes: names(100), excludes: names(100) });

const httpInfo = z.object({
  app: z.boolean(),
  app_auth: z.boolean(),
  disabled: z.array(z.enum(DISABLEABLE)).max(DISABLEABLE.length),
  mount_prefix: z.string().startsWith("/").max(256).nullable(),
  configurable_headers: headerChoice.nullable(),
  logging_headers: headerChoice.nullable(),
  cors: z
    .object({
      allow_origins: names(1000).nullable(),
      has_origin_pattern: z.boolean(),
      allow_methods: names(100).nullable(),
      allow_headers: names(100).nullable(),
      allow_credentials: z.boolean(),
      expose_headers: names(100),
      max_age: z.int().min(0).nullable(),
    })
    .nullable(),
}) satisfies z.ZodType<HttpInfo>;
const minutes = z.number().positive().max(MAX_TTL_MINUTES);

/** Code that was built before stores had settings has none. */
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
 * Schema of a graph host's description. The host of a deployment is its own code, so each answer is only as
 * trustworthy as that code.
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
    // Hosts of earlier builds return neither.
    http: httpInfo.nullable().default(null),
    ui: z.record(z.string().max(256), names(1000)).default({}),
    // Hosts of earlier builds return nothing about webhooks.
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
    store: storeSettings.default(DEFAULT_STORE),
  })
  .refine((description) => JSON.stringify(description).length <= MAX_CHARS, {
    message: `It has more than ${MAX_CHARS} characters`,
    abort: true,
  });

export type ProjectDescription = z.infer<typeof projectDescription>;
