import { z } from "@hono/zod-openapi";
import { uuidParam } from "../../http/path-params.ts";
import { jsonFilter } from "../json-filter.ts";
import { configSchema } from "../threads/run-schemas.ts";

const jsonObject = z.record(z.string(), z.unknown());

const versionFields = {
  assistant_id: z.uuid(),
  graph_id: z.string(),
  version: z.int(),
  config: jsonObject,
  context: jsonObject,
  metadata: jsonObject,
  name: z.string(),
  description: z.string().nullable(),
  created_at: z.iso.datetime(),
};

export const assistantVersionSchema = z.object(versionFields).openapi("AssistantVersion");

export const assistantSchema = z
  .object({ ...versionFields, updated_at: z.iso.datetime() })
  .openapi("Assistant");

const ASSISTANT_FIELDS = [
  "assistant_id",
  "graph_id",
  "name",
  "description",
  "config",
  "context",
  "created_at",
  "updated_at",
  "metadata",
  "version",
] as const;

const graphId = z.string().min(1);

export const assistantCreateSchema = z
  .strictObject({
    graph_id: graphId,
    assistant_id: uuidParam().optional(),
    config: configSchema.optional(),
    context: jsonObject.optional(),
    metadata: jsonObject.optional(),
    if_exists: z.enum(["raise", "do_nothing"]).optional(),
    name: z.string().optional(),
    description: z.string().nullish(),
  })
  .openapi("AssistantCreate");

export const assistantPatchSchema = z
  .strictObject({
    graph_id: graphId.optional(),
    config: configSchema.optional(),
    context: jsonObject.optional(),
    metadata: jsonObject.optional(),
    name: z.string().optional(),
    description: z.string().optional(),
  })
  .openapi("AssistantPatch");

const filterFields = {
  metadata: jsonFilter().nullish(),
  graph_id: z.string().nullish(),
  name: z.string().nullish(),
};

const pageFields = {
  limit: z.int().min(1).max(1000).nullish(),
  offset: z.int().min(0).nullish(),
};

export const assistantSearchSchema = z
  .strictObject({
    ...filterFields,
    ...pageFields,
    sort_by: z.enum(["assistant_id", "graph_id", "name", "created_at", "updated_at"]).nullish(),
    sort_order: z.enum(["asc", "desc"]).nullish(),
    select: z.array(z.enum(ASSISTANT_FIELDS)).nullish(),
  })
  .openapi("AssistantSearchRequest");

export type AssistantSearch = z.infer<typeof assistantSearchSchema>;

export const assistantCountSchema = z.strictObject(filterFields).openapi("AssistantCountRequest");

export const versionsSearchSchema = z
  .strictObject({ metadata: jsonFilter().nullish(), ...pageFields })
  .openapi("AssistantVersionsSearchRequest");

export const versionChangeSchema = z
  .strictObject({ version: z.int().min(1).optional() })
  .openapi("AssistantVersionChange");

export const graphDrawingSchema = z
  .object({ nodes: z.array(jsonObject), edges: z.array(jsonObject) })
  .openapi("GraphDrawing");

export const graphSchemasSchema = z
  .object({
    graph_id: z.string(),
    input_schema: z.unknown(),
    output_schema: z.unknown(),
    state_schema: z.unknown(),
    config_schema: z.unknown(),
    context_schema: z.unknown(),
  })
  .openapi("GraphSchema");
