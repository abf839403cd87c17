import type { ProjectChange, ProjectRow } from "../../db/projects-repo.ts";
import type { TraceTier } from "../../db/tracing-schema.ts";

/** Of traces that nothing else decides about. */
const DEFAULT_TRACE_TIER: TraceTier = "shortlived";

/** A project's first row; what is undefined gets its default. `now` in epoch milliseconds. */
export function newProject(
  workspaceId: string,
  given: ProjectChange & { name: string; id?: string | undefined },
  now: number,
): ProjectRow {
  return {
    id: given.id ?? crypto.randomUUID(),
    workspace_id: workspaceId,
    name: given.name,
    description: given.description ?? null,
    start_time: given.start_time ?? now,
    end_time: given.end_time ?? null,
    extra: given.extra ?? null,
    default_dataset_id: given.default_dataset_id ?? null,
    reference_dataset_id: given.reference_dataset_id ?? null,
    trace_tier: given.trace_tier ?? DEFAULT_TRACE_TIER,
    buckets: 1,
    created_at: now,
    updated_at: now,
    deleted_at: null,
  };
}
