import { queryOptions } from "@tanstack/react-query";
import type { KnownValues } from "../traces/filter/completions.ts";
import type { Tracing } from "./tracing.ts";

/** Cache time. A key may request statistics every ten seconds. */
const KEPT_MS = 300_000;

type Facets = {
  run_facets?: { key: string; value: string }[];
  feedback_stats?: Record<string, unknown>;
};

const FIELD_OF: Record<string, string> = { name: "name", run_type: "run_type", tag: "tags" };

/** Loads the names, tags, feedback and metadata that runs of a project have, the most frequent first. */
export function knownValuesQuery(tracing: Tracing, projectId: string) {
  return queryOptions({
    queryKey: ["known-values", projectId],
    staleTime: KEPT_MS,
    queryFn: async ({ signal }): Promise<KnownValues> => {
      const [facets, metadata] = await Promise.all([
        tracing<Facets>("/runs/stats", {
          method: "POST",
          body: { session: [projectId], select: ["run_facets", "feedback_stats"] },
          signal,
        }),
        tracing<Record<string, string[]>>(`/sessions/${projectId}/metadata`, { signal }),
      ]);
      const fields: Record<string, string[]> = {
        feedback_key: Object.keys(facets.feedback_stats ?? {}),
        metadata_key: Object.keys(metadata),
      };
      for (const { key, value } of facets.run_facets ?? []) {
        const field = FIELD_OF[key];
        if (field !== undefined) (fields[field] ??= []).push(value);
      }
      return { fields, metadata };
    },
  });
}
