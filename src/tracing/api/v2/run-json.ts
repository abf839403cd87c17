import { microsToIso } from "../../../lib/time.ts";
import { ancestorIds } from "../../model/dotted-order.ts";
import { scanMembers, skipSpace, skipValue } from "../../model/json-text.ts";
import { readAttachments, type TracedRunRow } from "../../model/run-row.ts";
import type { Attachment, Payload, PayloadField } from "../../model/run-write.ts";
import { toSeconds, toUsd, toUsdByCategory } from "../../usage/money.ts";
import { type JsonMember, jsonObject, type JsonPart } from "../json-parts.ts";
import type { RunField } from "./run-fields.ts";

/** A run's row, its project and its requested payloads. */
export type ReadRun = {
  ref: { projectId: string };
  run: TracedRunRow & { payloads: Partial<Record<PayloadField, Payload>> };
};

/** What the response needs besides the run. Each is requested only if it is selected. */
export type RunLinks = {
  appPath: () => string;
  attachmentUrl: (attachment: Attachment) => Promise<string>;
  /** Returns the URL of the run's public view; undefined if the run is not shared. */
  shareUrl: () => string | undefined;
};

type LinkField = "APP_PATH" | "ATTACHMENTS" | "SHARE_URL";

/** Returns the selected fields of a run. Fields without a value are left out, except `end_time`. */
export async function toRunJsonV2(
  read: ReadRun,
  fields: Iterable<RunField>,
  links: RunLinks,
): Promise<JsonPart[]> {
  const members: JsonMember[] = [];
  for (const field of fields) {
    const value =
      field === "APP_PATH" || field === "ATTACHMENTS" || field === "SHARE_URL"
        ? json(await linkValue(read, field, links))
        : runMember(read, field);
    members.push([field.toLowerCase(), value]);
  }
  return jsonObject(members);
}

/** Returns the JSON of one field; undefined if the run has no value for it. */
export function runMember(
  read: ReadRun,
  field: Exclude<RunField, LinkField>,
): JsonPart | undefined {
  const { run } = read;
  switch (field) {
    case "ERROR":
      return payloadPart(run.payloads.error);
    case "EXTRA":
      return payloadPart(run.payloads.extra) ?? "{}";
    case "METADATA":
      return metadataText(run.payloads.extra);
    case "EVENTS":
      return payloadPart(run.payloads.events) ?? "[]";
    case "INPUTS":
      return payloadPart(run.payloads.inputs) ?? "{}";
    case "OUTPUTS":
      return payloadPart(run.payloads.outputs);
    case "MANIFEST":
      return payloadPart(run.payloads.serialized);
    default:
      return json(VALUES[field](read));
  }
}

type ColumnField = Exclude<
  RunField,
  LinkField | "ERROR" | "EXTRA" | "METADATA" | "EVENTS" | "INPUTS" | "OUTPUTS" | "MANIFEST"
>;

const VALUES: Record<ColumnField, (read: ReadRun) => unknown> = {
  ID: ({ run }) => run.id,
  NAME: ({ run }) => run.name,
  RUN_TYPE: ({ run }) => run.run_type.toUpperCase(),
  STATUS: ({ run }) => run.status.toUpperCase(),
  START_TIME: ({ run }) => microsToIso(run.start_time),
  // Null, rather than absent, means that the run has not ended.
  END_TIME: ({ run }) => (run.end_time === null ? null : microsToIso(run.end_time)),
  LATENCY_SECONDS: ({ run }) =>
    run.end_time === null ? undefined : toSeconds(run.end_time - run.start_time),
  FIRST_TOKEN_TIME: ({ run }) =>
    run.first_token_time === null ? undefined : microsToIso(run.first_token_time),
  ERROR_PREVIEW: ({ run }) => run.error ?? undefined,
  INPUTS_PREVIEW: ({ run }) => run.inputs_preview ?? undefined,
  OUTPUTS_PREVIEW: ({ run }) => run.outputs_preview ?? undefined,
  PARENT_RUN_ID: ({ run }) => run.parent_run_id ?? undefined,
  PARENT_RUN_IDS: ({ run }) => ancestorIds(run.dotted_order),
  PROJECT_ID: ({ ref }) => ref.projectId,
  TRACE_ID: ({ run }) => run.trace_id,
  THREAD_ID: ({ run }) => run.thread_id ?? undefined,
  DOTTED_ORDER: ({ run }) => run.dotted_order,
  IS_ROOT: ({ run }) => run.parent_run_id === null,
  REFERENCE_EXAMPLE_ID: ({ run }) => run.reference_example_id ?? undefined,
  // Datasets, annotation queues and evaluators of threads are not stored here.
  REFERENCE_DATASET_ID: () => undefined,
  IS_IN_DATASET: () => false,
  LAST_QUEUED_AT: () => undefined,
  THREAD_EVALUATION_TIME: () => undefined,
  TOTAL_TOKENS: ({ run }) => run.total_tokens,
  PROMPT_TOKENS: ({ run }) => run.prompt_tokens,
  COMPLETION_TOKENS: ({ run }) => run.completion_tokens,
  TOTAL_COST: ({ run }) => usd(run.total_cost),
  PROMPT_COST: ({ run }) => usd(run.prompt_cost),
  COMPLETION_COST: ({ run }) => usd(run.completion_cost),
  PROMPT_TOKEN_DETAILS: ({ run }) => details(run.prompt_token_details),
  COMPLETION_TOKEN_DETAILS: ({ run }) => details(run.completion_token_details),
  PROMPT_COST_DETAILS: ({ run }) => details(run.prompt_cost_details, toUsdByCategory),
  COMPLETION_COST_DETAILS: ({ run }) => details(run.completion_cost_details, toUsdByCategory),
  PRICE_MODEL_ID: ({ run }) => run.price_model_id ?? undefined,
  TAGS: ({ run }) => (run.tags === null ? [] : JSON.parse(run.tags)),
  FEEDBACK_STATS: ({ run }) => (run.feedback_stats === null ? {} : JSON.parse(run.feedback_stats)),
};

async function linkValue(
  { run }: ReadRun,
  field: LinkField,
  { appPath, attachmentUrl, shareUrl }: RunLinks,
): Promise<unknown> {
  if (field === "APP_PATH") return appPath();
  if (field === "SHARE_URL") return shareUrl();
  const urls: [string, string][] = [];
  for (const attachment of readAttachments(run.attachments)) {
    urls.push([attachment.name, await attachmentUrl(attachment)]);
  }
  return Object.fromEntries(urls);
}

function payloadPart(payload: Payload | undefined): JsonPart | undefined {
  if (payload === undefined) return undefined;
  return "json" in payload ? payload.json : { object: payload.object };
}

/** Returns the text of `metadata` unchanged, because a double cannot hold all of its numbers. */
function metadataText(extra: Payload | undefined): string {
  let metadata = "{}";
  if (extra === undefined || !("json" in extra)) return metadata;
  const text = extra.json;
  const start = skipSpace(text, 0);
  if (text[start] !== "{") return metadata;
  scanMembers(text, start, (key, at) => {
    const end = skipValue(text, at);
    if (key === "metadata" && text[at] === "{") metadata = text.slice(at, end);
    return end;
  });
  return metadata;
}

function usd(picodollars: number | null): number | undefined {
  return picodollars === null ? undefined : toUsd(picodollars);
}

function details(
  text: string | null,
  convert: (categories: Record<string, number>) => Record<string, number> = (same) => same,
): { raw: Record<string, number> } | undefined {
  return text === null ? undefined : { raw: convert(JSON.parse(text) as Record<string, number>) };
}

function json(value: unknown): string | undefined {
  return value === undefined ? undefined : JSON.stringify(value);
}
