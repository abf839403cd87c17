import { createRoute, z } from "@hono/zod-openapi";
import { createRouter } from "../../../http/router.ts";

/** Routes that describe what this server supports. SDKs call them first, without an API key. */
export const infoRoutes = createRouter();

/** The version of the tracing API, not of this software. Clients compare it with the version they require. */
const API_VERSION = "0.16.0";

const MAX_BATCH_BYTES = 20 * 1024 * 1024;

const infoSchema = z
  .object({
    version: z.string(),
    license_expiration_time: z.string().nullable(),
    batch_ingest_config: z.record(z.string(), z.union([z.number(), z.boolean()])),
    instance_flags: z.record(z.string(), z.boolean()),
  })
  .openapi("TracingInfo");

infoRoutes.openapi(
  createRoute({
    method: "get",
    path: "/info",
    tags: ["Tracing"],
    summary: "Get the capabilities of the tracing API",
    security: [],
    responses: {
      200: { description: "Info", content: { "application/json": { schema: infoSchema } } },
    },
  }),
  (c) =>
    c.json(
      {
        version: API_VERSION,
        license_expiration_time: null,
        batch_ingest_config: {
          use_multipart_endpoint: true,
          scale_up_qsize_trigger: 1000,
          scale_up_nthreads_limit: 16,
          scale_down_nempty_trigger: 4,
          size_limit: 100,
          size_limit_bytes: MAX_BATCH_BYTES,
        },
        instance_flags: {
          gzip_body_enabled: true,
          zstd_compression_enabled: true,
          dataset_examples_multipart_enabled: false,
        },
      },
      200,
    ),
);

infoRoutes.openapi(
  createRoute({
    method: "get",
    path: "/ok",
    tags: ["Tracing"],
    summary: "Check that the tracing API works",
    security: [],
    responses: {
      200: {
        description: "It works",
        content: { "application/json": { schema: z.object({ ok: z.literal(true) }) } },
      },
    },
  }),
  (c) => c.json({ ok: true as const }, 200),
);
