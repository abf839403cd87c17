import { z } from "@hono/zod-openapi";
import {
  filterSize,
  type JsonFilter,
  MAX_FILTER_DEPTH,
  MAX_FILTER_SIZE,
} from "../../../../db/json-filter-sql.ts";
import { TRACE_TIERS } from "../../../../db/tracing-schema.ts";
import { notServed } from "../../../../http/not-served.ts";
import { uuidParam } from "../../../../http/path-params.ts";
import { booleanParam, integerParam } from "../../../../http/query-params.ts";
import { timeValue } from "../../../../http/time-value.ts";
import { textListParam, uuidListParam } from "../params.ts";
import { SORT_COLUMNS } from "./sort-by-stats.ts";
import { PROJECT_STATS } from "./project-stats.ts";
import { isObject, jsonOrUndefined } from "../../../../lib/json.ts";
import { microsToMillis, toIso } from "../../../../lib/time.ts";
import type { ProjectChange, ProjectRow } from "../../../../db/projects-repo.ts";

/** Maximum length of a project name, which is the key of an index. */
const MAX_PROJECT_NAME_CHARS = 1024;

const MAX_DESCRIPTION_CHARS = 65_536;
const MAX_EXTRA_CHARS = 524_288;

const jsonObject = z.record(z.string(), z.unknown());

const projectName = z.string().min(1).max(MAX_PROJECT_NAME_CHARS);

const extra = jsonObject.refine((value) => JSON.stringify(value).length <= MAX_EXTRA_CHARS, {
  message: `JSON should have at most ${MAX_EXTRA_CHARS} characters`,
  params: { type: "too_long" },
});

/** SDKs send null for fields that were not given. */
const optionalFields = {
  description: z.string().max(MAX_DESCRIPTION_CHARS).nullish(),
  end_time: timeValue().nullish(),
  extra: extra.nullish(),
  default_dataset_id: uuidParam().nullish(),
  trace_tier: z.enum(TRACE_TIERS).nullish(),
};

export const projectCreateSchema = z
  .strictObject({
    ...optionalFields,
    name: projectName,
    id: uuidParam().nullish(),
    start_time: timeValue().nullish(),
    reference_dataset_id: uuidParam().nullish(),
    // Evaluation runners announce their progress with these; they are accepted and never shown.
    num_examples: z.int().nullish(),
    num_repetitions: z.int().nullish(),
    evaluator_keys: z.array(z.string()).nullish(),
    tag_value_ids: z
      .array(z.unknown())
      .refine((ids) => ids.length === 0, "Tags of projects are not supported")
      .nullish(),
  })
  .openapi("TracerSessionCreate");

type ProjectCreate = z.infer<typeof projectCreateSchema>;

export const projectUpdateSchema = z
  .strictObject({ ...optionalFields, name: projectName.nullish() })
  .openapi("TracerSessionUpdate");

type ProjectUpdate = z.infer<typeof projectUpdateSchema>;

/** A project. With statistics it has additional members. */
export const projectSchema = z
  .object({
    id: z.uuid(),
    tenant_id: z.uuid(),
    name: z.string(),
    start_time: z.iso.datetime(),
    end_time: z.iso.datetime().nullable(),
    extra: jsonObject.nullable(),
    description: z.string().nullable(),
    default_dataset_id: z.uuid().nullable(),
    reference_dataset_id: z.uuid().nullable(),
    trace_tier: z.enum(TRACE_TIERS),
    last_run_start_time_live: z.iso.datetime().nullable(),
  })
  .catchall(z.unknown())
  .openapi("TracerSession");

const statsFields = {
  include_stats: booleanParam().optional(),
  stats_start_time: timeValue().optional(),
};

export const projectReadQuery = z.strictObject({
  ...statsFields,
  // The Python SDK sends this here, too.
  limit: integerParam({ min: 1 }).optional(),
});

export const projectListQuery = z.strictObject({
  ...statsFields,
  id: uuidListParam().optional(),
  name: z.string().optional(),
  name_contains: z.string().optional(),
  metadata: metadataParam().optional(),
  reference_free: booleanParam().optional(),
  reference_dataset: uuidListParam().optional(),
  sort_by: z.enum(SORT_COLUMNS).optional(),
  sort_by_desc: booleanParam().optional(),
  sort_by_feedback_key: z.string().optional(),
  offset: integerParam({ min: 0 }).optional(),
  limit: integerParam({ min: 1, max: 100 }).optional(),
  stats_select: z
    .union([z.enum(PROJECT_STATS).transform((one) => [one]), z.array(z.enum(PROJECT_STATS))])
    .optional(),
  stats_filter: z.string().optional(),
  // This has no effect: the statistics are always exact.
  use_approx_stats: booleanParam().optional(),
  facets: booleanParam().optional(),
  filter: notServed("Filters of projects are not supported: use name_contains or metadata"),
  tag_value_id: notServed("Tags of projects are not supported"),
  dataset_version: notServed("Versions of datasets are not supported"),
});

export type ProjectListQuery = z.infer<typeof projectListQuery>;

export const projectMetadataQuery = z.strictObject({
  metadata_keys: textListParam().optional(),
  start_time: timeValue().optional(),
  k: integerParam({ min: 1 }).optional(),
  root_runs_only: booleanParam().optional(),
});

/** The text of a JSON object that is small enough for the database to compare. */
function metadataParam() {
  return z
    .string()
    .transform((text, ctx): JsonFilter => {
      const filter = parseObject(text);
      const { size, depth } = filterSize(filter);
      if (filter !== null && size <= MAX_FILTER_SIZE && depth <= MAX_FILTER_DEPTH) return filter;
      const message =
        filter === null
          ? "Input should be the text of a JSON object"
          : `Filter has more than ${MAX_FILTER_SIZE} keys and values, or more than ${MAX_FILTER_DEPTH} levels`;
      const type = filter === null ? "json_invalid" : "filter_too_large";
      ctx.addIssue({ code: "custom", message, params: { type } });
      return z.NEVER;
    })
    .openapi({ type: "string" });
}

function parseObject(text: string): JsonFilter | null {
  const value = jsonOrUndefined(text);
  return isObject(value) ? value : null;
}

/** Returns a project as the API shows it, without statistics. */
export function toProjectJson(row: ProjectRow) {
  return {
    id: row.id,
    tenant_id: row.workspace_id,
    name: row.name,
    start_time: toIso(row.start_time),
    end_time: row.end_time === null ? null : toIso(row.end_time),
    extra: row.extra === null ? null : (JSON.parse(row.extra) as Record<string, unknown>),
    description: row.description,
    default_dataset_id: row.default_dataset_id,
    reference_dataset_id: row.reference_dataset_id,
    trace_tier: row.trace_tier,
    last_run_start_time_live: null,
  };
}

/** Converts a body to a change. SDKs send null for fields that were not given, so null changes nothing. */
export function toProjectChange(body: ProjectUpdate | Omit<ProjectCreate, "id">): ProjectChange {
  const { name, description, end_time, extra, default_dataset_id, trace_tier } = body;
  const start = "start_time" in body ? body.start_time : undefined;
  const dataset = "reference_dataset_id" in body ? body.reference_dataset_id : undefined;
  return {
    name: name ?? undefined,
    description: description ?? undefined,
    start_time: start == null ? undefined : microsToMillis(start),
    end_time: end_time == null ? undefined : microsToMillis(end_time),
    extra: extra == null ? undefined : JSON.stringify(extra),
    default_dataset_id: default_dataset_id ?? undefined,
    reference_dataset_id: dataset ?? undefined,
    trace_tier: trace_tier ?? undefined,
  };
}
