import { z } from "@hono/zod-openapi";
import { MAX_TTL_MINUTES } from "../../lib/time.ts";
import { booleanParam } from "../../http/query-params.ts";
import { jsonFilter } from "../json-filter.ts";
import { unknownOperator } from "./store-filter.ts";

const DEFAULT_ITEMS = 10;
const DEFAULT_NAMESPACES = 100;
const MAX_PATHS = 100;
const MAX_QUERY_CHARS = 100_000;

const labels = z.array(z.string());
const jsonObject = z.record(z.string(), z.unknown());

/**
 * SQLite stores UTF-8: an unpaired surrogate would become a different key, and for some readers a NUL ends the
 * text.
 */
const key = z.string().refine((text) => text.isWellFormed() && !text.includes("\0"), {
  message: "Input should be well-formed Unicode without the character NUL",
  params: { type: "string_unicode" },
});

const count = (whenAbsent: number) =>
  z
    .int()
    .min(0)
    .nullish()
    .transform((value) => value ?? whenAbsent);

const filter = jsonFilter().superRefine((conditions, ctx) => {
  const operator = unknownOperator(conditions);
  if (operator === null) return;
  ctx.addIssue({
    code: "custom",
    message: `Unknown filter operator "${operator}": there are $eq, $ne, $gt, $gte, $lt and $lte`,
    params: { type: "value_error" },
  });
});

export const putItemSchema = z
  .strictObject({
    namespace: labels,
    key,
    value: jsonObject,
    /** Null, like a missing field, means the project's setting; false keeps the item out of the index. */
    index: z.union([z.literal(false), z.array(z.string()).max(MAX_PATHS)]).nullish(),
    /** Minutes. Null means that the item never expires; if the field is missing, the project's setting applies. */
    ttl: z.number().positive().max(MAX_TTL_MINUTES).nullish(),
  })
  .openapi("StorePutRequest");

export const deleteItemSchema = z
  .strictObject({ namespace: labels.nullish(), key })
  .openapi("StoreDeleteRequest");

export const getItemQuery = z.strictObject({
  /** Clients join the labels with dots; in the API's description this is a list. */
  namespace: z
    .union([z.string(), labels])
    .transform((value) => (typeof value === "string" ? value.split(".") : value))
    .optional()
    .openapi({ type: "string", description: "The labels, joined by dots" }),
  key,
  refresh_ttl: booleanParam().optional(),
});

export const searchItemsSchema = z
  .strictObject({
    namespace_prefix: labels.nullish(),
    filter: filter.nullish(),
    limit: count(DEFAULT_ITEMS),
    offset: count(0),
    /** Has no effect if the project has no index. */
    query: z.string().max(MAX_QUERY_CHARS).nullish(),
    refresh_ttl: z.boolean().nullish(),
  })
  .openapi("StoreSearchRequest");

export const listNamespacesSchema = z
  .strictObject({
    prefix: labels.nullish(),
    suffix: labels.nullish(),
    max_depth: z.int().min(1).nullish(),
    limit: count(DEFAULT_NAMESPACES),
    offset: count(0),
  })
  .openapi("StoreListNamespacesRequest");

const itemFields = {
  namespace: labels,
  key: z.string(),
  value: jsonObject,
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
};

export const itemSchema = z.object(itemFields).openapi("Item");

const foundItemSchema = z
  .object({
    ...itemFields,
    score: z.number().optional().openapi({ description: "Similarity to the query, from -1 to 1" }),
  })
  .openapi("SearchItem");

export const foundItemsSchema = z.object({ items: z.array(foundItemSchema) });

export const foundNamespacesSchema = z.object({ namespaces: z.array(labels) });

export type ItemGet = z.infer<typeof getItemQuery>;
export type ItemPut = z.infer<typeof putItemSchema>;
export type ItemsSearch = z.infer<typeof searchItemsSchema>;
export type NamespacesSearch = z.infer<typeof listNamespacesSchema>;
