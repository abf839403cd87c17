import { toIso } from "../../../../lib/time.ts";
import type { ProjectChange, ProjectRow } from "../../../../db/projects-repo.ts";
import type { Micros } from "../../../model/run-write.ts";
import type { ProjectCreate, ProjectUpdate } from "./schemas.ts";

/** A project as the API shows it, without statistics. */
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

/** Null is what SDKs send for a field that was not given. */
export function toProjectChange(body: ProjectUpdate | Omit<ProjectCreate, "id">): ProjectChange {
  const { name, description, end_time, extra, default_dataset_id, trace_tier } = body;
  const start = "start_time" in body ? body.start_time : undefined;
  const dataset = "reference_dataset_id" in body ? body.reference_dataset_id : undefined;
  return {
    name: name ?? undefined,
    description: description ?? undefined,
    start_time: start == null ? undefined : toMillis(start),
    end_time: end_time == null ? undefined : toMillis(end_time),
    extra: extra == null ? undefined : JSON.stringify(extra),
    default_dataset_id: default_dataset_id ?? undefined,
    reference_dataset_id: dataset ?? undefined,
    trace_tier: trace_tier ?? undefined,
  };
}

function toMillis(micros: Micros): number {
  return Math.floor(micros / 1000);
}
