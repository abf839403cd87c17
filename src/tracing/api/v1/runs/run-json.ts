import { microsToIso } from "../../../../lib/time.ts";
import { ancestorIds } from "../../../model/dotted-order.ts";
import type { PlacedRun } from "../../../query/run-source.ts";
import { readAttachments, type TracedRunRow } from "../../../model/run-row.ts";
import { formatCost } from "../../../usage/costs.ts";
import { type JsonMember, jsonObject, type JsonPart } from "../../json-parts.ts";
import { appPath, linkSettings, signedObjectUrl } from "../../links.ts";
import type { RunSelect } from "./run-schema.ts";
import { findShareOfRun } from "../../../../db/run-shares-repo.ts";
import type { AppContext } from "../../../../http/app-types.ts";
import { findRuns } from "../../../query/find-runs.ts";
import type { RunPosition } from "../../../model/run-page.ts";

/** What a run's JSON needs besides its record. The promises are requested only if they are selected. */
export type RunJsonContext = {
  /** Returns a temporary link to an R2 object that works without an API key. */
  objectUrl: (object: string, mimeType: string) => Promise<string>;
  ttlSeconds: (tier: string) => number;
  shareToken: (runId: string) => Promise<string | null>;
  traceFacts: (traceId: string) => Promise<TraceFacts>;
};

type TraceFacts = {
  minStart: number;
  maxStart: number;
  runs: { id: string; parentRunId: string | null; dottedOrder: string }[];
};

type PayloadName = keyof PlacedRun["run"]["payloads"];

/** Returns a run as the tracing API shows it: JSON text in which large payloads are references to R2 objects. */
export async function toRunJsonV1(
  placed: PlacedRun,
  select: ReadonlySet<RunSelect>,
  context: RunJsonContext,
): Promise<JsonPart[]> {
  const members: JsonMember[] = [];
  const { run, ref } = placed;
  for (const name of select) {
    const simple = SIMPLE[name];
    if (simple !== undefined) members.push([name, JSON.stringify(simple(run))]);
  }
  if (select.has("session_id")) members.push(["session_id", JSON.stringify(ref.projectId)]);
  if (select.has("app_path")) members.push(["app_path", JSON.stringify(appPath(placed))]);
  if (select.has("ttl_seconds")) {
    members.push(["ttl_seconds", String(context.ttlSeconds(run.trace_tier))]);
  }
  addPayloads(members, placed, select);
  await addLinks(members, placed, select, context);
  if (select.has("share_token")) {
    members.push(["share_token", JSON.stringify(await context.shareToken(run.id))]);
  }
  if (select.has("child_run_ids") || select.has("trace_min_max_start_time")) {
    addTraceFacts(members, run, select, await context.traceFacts(run.trace_id));
  }
  return jsonObject(members);
}

type Row = PlacedRun["run"];

const cost = (value: number | null): string | null => (value === null ? null : formatCost(value));
const time = (micros: number | null): string | null =>
  micros === null ? null : microsToIso(micros);

const SIMPLE: Partial<Record<RunSelect, (run: Row) => unknown>> = {
  id: (run) => run.id,
  name: (run) => run.name,
  run_type: (run) => run.run_type,
  start_time: (run) => microsToIso(run.start_time),
  end_time: (run) => time(run.end_time),
  status: (run) => run.status,
  inputs_preview: (run) => run.inputs_preview,
  outputs_preview: (run) => run.outputs_preview,
  parent_run_id: (run) => run.parent_run_id,
  parent_run_ids: (run) => ancestorIds(run.dotted_order),
  // Manifests and datasets are not stored here.
  manifest_id: () => null,
  manifest_s3_id: () => null,
  in_dataset: () => false,
  reference_dataset_id: () => null,
  reference_example_id: (run) => run.reference_example_id,
  total_tokens: (run) => run.total_tokens,
  prompt_tokens: (run) => run.prompt_tokens,
  completion_tokens: (run) => run.completion_tokens,
  prompt_token_details: (run) => details(run.prompt_token_details),
  completion_token_details: (run) => details(run.completion_token_details),
  total_cost: (run) => cost(run.total_cost),
  prompt_cost: (run) => cost(run.prompt_cost),
  completion_cost: (run) => cost(run.completion_cost),
  prompt_cost_details: (run) => costDetails(run.prompt_cost_details),
  completion_cost_details: (run) => costDetails(run.completion_cost_details),
  price_model_id: (run) => run.price_model_id,
  first_token_time: (run) => time(run.first_token_time),
  trace_id: (run) => run.trace_id,
  dotted_order: (run) => run.dotted_order,
  last_queued_at: (run) => microsToIso(run.received_at),
  inserted_at: (run) => microsToIso(run.inserted_at),
  feedback_stats: (run) => details(run.feedback_stats),
  tags: (run) => (run.tags === null ? [] : (JSON.parse(run.tags) as string[])),
  trace_tier: (run) => run.trace_tier,
  trace_first_received_at: (run) => microsToIso(run.trace_first_received_at),
  trace_upgrade: (run) => run.trace_tier === "longlived",
  thread_id: (run) => run.thread_id,
};

function details(text: string | null): unknown {
  return text === null ? null : JSON.parse(text);
}

function costDetails(text: string | null): Record<string, string> | null {
  if (text === null) return null;
  const picodollars = Object.entries(JSON.parse(text) as Record<string, number>);
  return Object.fromEntries(picodollars.map(([name, value]) => [name, formatCost(value)]));
}

/** The JSON of a payload that the run was never given. */
const EMPTY: Record<PayloadName, string> = {
  inputs: "{}",
  outputs: "null",
  events: "[]",
  extra: "{}",
  serialized: "null",
  error: "null",
};

function addPayloads(
  members: JsonMember[],
  { run }: PlacedRun,
  select: ReadonlySet<RunSelect>,
): void {
  for (const field of ["inputs", "outputs", "events", "extra", "serialized", "error"] as const) {
    const whole = select.has(field);
    const orUrl = select.has(`${field}_or_signed_url`);
    if (!whole && !orUrl) continue;
    const payload = run.payloads[field];
    if (payload === undefined) members.push([field, EMPTY[field]]);
    else if ("json" in payload) members.push([field, payload.json]);
    else if (whole) members.push([field, { object: payload.object }]);
  }
}

async function addLinks(
  members: JsonMember[],
  { run }: PlacedRun,
  select: ReadonlySet<RunSelect>,
  context: RunJsonContext,
): Promise<void> {
  for (const field of ["inputs", "outputs"] as const) {
    if (!select.has(`${field}_s3_urls`) && !select.has(`${field}_or_signed_url`)) continue;
    const payload = run.payloads[field];
    const stored = payload !== undefined && "object" in payload ? payload.object : null;
    const url = stored === null ? null : await context.objectUrl(stored, "application/json");
    members.push([
      `${field}_s3_urls`,
      JSON.stringify(url === null ? null : { ROOT: { presigned_url: url } }),
    ]);
  }
  const urls: Record<string, { presigned_url: string; mime_type?: string }> = {};
  if (select.has("s3_urls")) {
    for (const { name, mimeType, object } of readAttachments(run.attachments)) {
      urls[`attachment.${name}`] = {
        presigned_url: await context.objectUrl(object, mimeType),
        mime_type: mimeType,
      };
    }
  }
  for (const field of ["error", "events", "extra", "serialized"] as const) {
    const payload = run.payloads[field];
    if (!select.has(`${field}_or_signed_url`) || select.has(field)) continue;
    if (payload !== undefined && "object" in payload) {
      urls[field] = { presigned_url: await context.objectUrl(payload.object, "application/json") };
    }
  }
  if (select.has("s3_urls") || Object.keys(urls).length > 0) {
    members.push(["s3_urls", JSON.stringify(Object.keys(urls).length === 0 ? null : urls)]);
  }
}

function addTraceFacts(
  members: JsonMember[],
  run: TracedRunRow,
  select: ReadonlySet<RunSelect>,
  facts: TraceFacts,
): void {
  if (select.has("child_run_ids")) {
    const below = facts.runs.filter(({ dottedOrder }) =>
      dottedOrder.startsWith(`${run.dotted_order}.`),
    );
    const direct = below.filter(({ parentRunId }) => parentRunId === run.id);
    members.push(["child_run_ids", JSON.stringify(below.map(({ id }) => id))]);
    members.push(["direct_child_run_ids", JSON.stringify(direct.map(({ id }) => id))]);
  }
  if (select.has("trace_min_max_start_time")) {
    members.push(["trace_min_start_time", JSON.stringify(microsToIso(facts.minStart))]);
    members.push(["trace_max_start_time", JSON.stringify(microsToIso(facts.maxStart))]);
  }
}

const TRACE_PAGE = 1000;

export function runJsonContext(c: AppContext, workspaceId: string): RunJsonContext {
  const { settings } = c.var;
  const links = linkSettings(c);
  const traces = new Map<string, Promise<TraceFacts>>();
  return {
    objectUrl: (object, mimeType) => signedObjectUrl(links, { object, mimeType }),
    ttlSeconds: (tier) =>
      (tier === "longlived" ? settings.longlivedTraceMs : settings.shortlivedTraceMs) / 1000,
    shareToken: async (runId) =>
      (await findShareOfRun(c.env.DB, workspaceId, runId))?.token ?? null,
    traceFacts: (traceId) => {
      let facts = traces.get(traceId);
      if (facts === undefined) {
        facts = readTrace(c.env, workspaceId, traceId);
        traces.set(traceId, facts);
      }
      return facts;
    },
  };
}

async function readTrace(env: Env, workspaceId: string, traceId: string): Promise<TraceFacts> {
  const facts: TraceFacts = { minStart: Infinity, maxStart: -Infinity, runs: [] };
  let after: RunPosition | null = null;
  do {
    const page = await findRuns(env, {
      workspaceId,
      selection: { traceId },
      order: "asc",
      after,
      limit: TRACE_PAGE,
      payloads: [],
    });
    for (const { run } of page.runs) {
      facts.minStart = Math.min(facts.minStart, run.start_time);
      facts.maxStart = Math.max(facts.maxStart, run.start_time);
      facts.runs.push({
        id: run.id,
        parentRunId: run.parent_run_id,
        dottedOrder: run.dotted_order,
      });
    }
    after = page.next;
  } while (after !== null);
  return facts;
}
