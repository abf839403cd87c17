import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useTracing } from "../api/tracing.ts";

const KEY = "user_score";

export type Feedback = {
  id: string;
  key: string;
  score: number | null;
  value: unknown;
  comment: string | null;
};

/** Reads and writes the rating of a run by this console's users, which is feedback with a key of its own. */
export function useRating(runId: string) {
  const tracing = useTracing();
  const queries = useQueryClient();
  const queryKey = ["feedback", runId, KEY];
  const { data } = useQuery({
    queryKey,
    queryFn: ({ signal }) =>
      tracing<Feedback[]>(`/feedback?run=${runId}&key=${KEY}&limit=1`, { signal }),
  });
  const current = data?.[0];
  const rate = useMutation({
    mutationFn: async (score: number) => {
      if (current === undefined) {
        const body = { run_id: runId, key: KEY, score, feedback_source: { type: "app" } };
        await tracing("/feedback", { method: "POST", body });
      } else if (current.score === score) {
        await tracing(`/feedback/${current.id}`, { method: "DELETE" });
      } else {
        await tracing(`/feedback/${current.id}`, { method: "PATCH", body: { score } });
      }
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ["feedback", runId] }),
  });
  return {
    score: rate.isPending ? rate.variables : (current?.score ?? null),
    error: rate.error,
    rate: rate.mutate,
  };
}
