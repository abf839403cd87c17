import { z } from "@hono/zod-openapi";
import { uuidParam } from "../../http/path-params.ts";
import { integerParam, listParam } from "../../http/query-params.ts";
import { jsonFilter } from "../json-filter.ts";
import { THREAD_STATUSES } from "../threads/storage/thread-record.ts";
import { threadSchema } from "../threads/thread-schemas.ts";
import { EXTRACT_ROOTS, type ExtractPath, parseExtractPath } from "./extract-path.ts";

const MAX_EXTRACTS = 10;
const MAX_IDS = 1000;
const MAX_PAGE = 1000;

export const THREAD_FIELDS = [
  "thread_id",
  "created_at",
  "updated_at",
  "state_updated_at",
  "metadata",
  "config",
  "status",
  "values",
  "interrupts",
  "error",
] as const;

export type ThreadField = (typeof THREAD_FIELDS)[number];

/** SDKs have a field `context`, which threads do not have here; clients may request it all the same. */
const SELECTABLE = [...THREAD_FIELDS, "context"] as const;

const sortBySchema = z.enum([
  "thread_id",
  "status",
  "created_at",
  "updated_at",
  "state_updated_at",
]);
const sortOrderSchema = z.enum(["asc", "desc"]);

const extractSchema = z
  .record(z.string(), z.string())
  .transform((aliases, ctx): Record<string, ExtractPath> => {
    const entries = Object.entries(aliases);
    if (entries.length > MAX_EXTRACTS) {
      ctx.addIssue({
        code: "custom",
        message: `At most ${MAX_EXTRACTS} paths can be extracted`,
        params: { type: "too_long" },
      });
    }
    const paths: [string, ExtractPath][] = [];
    for (const [alias, text] of entries) {
      const path = parseExtractPath(text);
      if (path === null) {
        ctx.addIssue({
          code: "custom",
          path: [alias],
          message: `Input should be a path such as values.messages[-1], rooted at ${EXTRACT_ROOTS.join(", ")}`,
          params: { type: "extract_path" },
        });
      } else {
        paths.push([alias, path]);
      }
    }
    return Object.fromEntries(paths);
  })
  .openapi({ type: "object", additionalProperties: { type: "string" } });

const filterFields = {
  metadata: jsonFilter().nullish(),
  values: jsonFilter().nullish(),
  status: z.enum(THREAD_STATUSES).nullish(),
};

export const threadSearchSchema = z
  .strictObject({
    ...filterFields,
    ids: z.array(uuidParam()).max(MAX_IDS).nullish(),
    limit: z.int().min(1).max(MAX_PAGE).nullish(),
    offset: z.int().min(0).nullish(),
    sort_by: sortBySchema.nullish(),
    sort_order: sortOrderSchema.nullish(),
    select: z.array(z.enum(SELECTABLE)).nullish(),
    extract: extractSchema.nullish(),
  })
  .openapi("ThreadSearchRequest");

export type ThreadSearch = z.infer<typeof threadSearchSchema>;

/** The fields of a search that can be given in a query string. */
export const threadListQuery = z.strictObject({
  status: z.enum(THREAD_STATUSES).optional(),
  ids: listParam().pipe(z.array(uuidParam()).max(MAX_IDS)).optional(),
  limit: integerParam({ min: 1, max: MAX_PAGE }).optional(),
  offset: integerParam({ min: 0 }).optional(),
  sort_by: sortBySchema.optional(),
  sort_order: sortOrderSchema.optional(),
  select: listParam(SELECTABLE).optional(),
});

export const threadCountSchema = z.strictObject(filterFields).openapi("ThreadCountRequest");

export const foundThreadsSchema = z.array(
  threadSchema
    .partial()
    .extend({ extracted: z.record(z.string(), z.unknown()).optional() })
    .openapi("FoundThread"),
);
