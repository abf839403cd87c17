import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useTracing } from "../api/tracing.ts";
import { Button } from "../ui/button.tsx";
import { ErrorNotice } from "../ui/error-notice.tsx";
import styles from "./share-link.module.css";

type Share = { share_token: string };

/** Shares a trace: anyone with the link can see it until it is no longer shared. */
export function ShareLink({ runId }: { runId: string }): ReactNode {
  const tracing = useTracing();
  const queries = useQueryClient();
  const queryKey = ["share", runId];
  const path = `/runs/${runId}/share`;
  const { data } = useQuery({
    queryKey,
    queryFn: ({ signal }) => tracing<Share | null>(path, { signal }),
  });
  const change = useMutation({
    mutationFn: (method: "PUT" | "DELETE") =>
      tracing(path, { method, ...(method === "PUT" ? { body: {} } : {}) }),
    onSettled: () => queries.invalidateQueries({ queryKey }),
  });
  if (data == null) {
    return (
      <div className={styles.share}>
        {change.isError ? <ErrorNotice error={change.error} /> : null}
        <Button size="s" disabled={change.isPending} onClick={() => change.mutate("PUT")}>
          Share
        </Button>
      </div>
    );
  }
  return (
    <div className={styles.share}>
      <a className={styles.link} href={`/console/shared/${data.share_token}`}>
        Public page
      </a>
      <Button size="s" disabled={change.isPending} onClick={() => change.mutate("DELETE")}>
        Stop sharing
      </Button>
    </div>
  );
}
