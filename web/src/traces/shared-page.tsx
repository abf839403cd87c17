import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useLocation } from "wouter";
import { request } from "../api/request.ts";
import type { Run } from "../api/runs.ts";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { Wordmark } from "../ui/wordmark.tsx";
import { RunDetails } from "./run-details.tsx";
import styles from "./shared-page.module.css";
import { TraceLayout } from "./trace-layout.tsx";

type Props = { token: string; selected: string | undefined };

/** Shows a shared trace, without a key. Nothing else is accessible from here. */
export default function SharedPage({ token, selected }: Props): ReactNode {
  const [, go] = useLocation();
  const path = `/api/v1/public/${encodeURIComponent(token)}`;
  const { data, error } = useQuery({
    queryKey: ["shared", token],
    queryFn: ({ signal }) => request<Run[]>(`${path}/runs`, { signal }),
  });
  const root = data?.find(({ id, trace_id }) => id === trace_id) ?? data?.[0];
  const run = data?.find(({ id }) => id === selected) ?? root;
  return (
    <main className={styles.page}>
      <TraceLayout
        trail={<Wordmark />}
        actions={null}
        notice={error === null ? null : <ErrorNotice error={error} />}
        runs={data ?? []}
        selectedId={run?.id ?? ""}
        onSelect={(id) => go(`/shared/${token}/${id}`, { replace: true })}
      >
        {run === undefined ? null : <RunDetails run={run} />}
      </TraceLayout>
    </main>
  );
}
