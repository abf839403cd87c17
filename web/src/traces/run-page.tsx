import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link, useLocation } from "wouter";
import { projectQuery } from "../api/projects.ts";
import { runQuery, traceQuery } from "../api/runs.ts";
import { useTracing } from "../api/tracing.ts";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { RunDetails } from "./run-details.tsx";
import { RunFeedback } from "./run-feedback.tsx";
import styles from "./share-link.module.css";
import { ShareLink } from "./share-link.tsx";
import { TraceLayout } from "./trace-layout.tsx";

const FOLLOW_MS = 1_500;

export default function RunPage({ runId }: { runId: string }): ReactNode {
  const tracing = useTracing();
  const [, go] = useLocation();
  const run = useQuery({
    ...runQuery(tracing, runId),
    placeholderData: (before) => before,
    refetchInterval: ({ state }) => (state.data?.end_time === null ? FOLLOW_MS : false),
  });
  const isRunning = run.data?.end_time === null;
  const trace = useQuery({
    ...traceQuery(tracing, run.data?.trace_id),
    refetchInterval: isRunning ? FOLLOW_MS : false,
  });
  const projectId = run.data?.session_id;
  const project = useQuery({
    ...projectQuery(tracing, projectId ?? ""),
    enabled: projectId !== undefined,
  });
  const error = run.error ?? trace.error;
  return (
    <TraceLayout
      trail={
        <>
          <Link href="/traces">Traces</Link> /{" "}
          {projectId === undefined ? null : (
            <Link href={`/traces/${projectId}`}>{project.data?.name ?? "project"}</Link>
          )}
        </>
      }
      runs={trace.data ?? []}
      selectedId={runId}
      onSelect={(id) => go(`/runs/${id}`, { replace: true })}
      actions={
        run.data === undefined ? null : (
          <div className={styles.actions}>
            <Link href={`/compare/${runId}`}>Compare</Link>
            <ShareLink runId={run.data.trace_id} />
          </div>
        )
      }
      notice={error === null ? null : <ErrorNotice error={error} retry={run.refetch} />}
    >
      {run.data === undefined ? null : (
        <RunDetails run={run.data} feedback={<RunFeedback runId={run.data.id} />} />
      )}
    </TraceLayout>
  );
}
