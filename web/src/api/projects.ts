import { queryOptions } from "@tanstack/react-query";
import type { Tracing } from "./tracing.ts";

export type Project = {
  id: string;
  name: string;
  description: string | null;
  run_count?: number | null;
  error_rate?: number | null;
  latency_p50?: number | null;
  latency_p99?: number | null;
  total_tokens?: number | null;
  total_cost?: string | number | null;
  last_run_start_time_live?: string | null;
};

export function projectsQuery(tracing: Tracing) {
  return queryOptions({
    queryKey: ["projects"],
    queryFn: ({ signal }) =>
      tracing<Project[]>("/sessions?include_stats=true&limit=100", { signal }),
  });
}

export function projectQuery(tracing: Tracing, projectId: string) {
  return queryOptions({
    queryKey: ["projects", projectId],
    queryFn: ({ signal }) =>
      tracing<Project>(`/sessions/${encodeURIComponent(projectId)}?include_stats=true`, { signal }),
  });
}
