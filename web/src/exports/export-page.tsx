import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { destinationsQuery, exportQuery, exportRunsQuery, isOver } from "../api/exports.ts";
import { projectQuery } from "../api/projects.ts";
import { useTracing } from "../api/tracing.ts";
import { Button } from "../ui/button.tsx";
import { CodeBlock } from "../ui/code-block.tsx";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { Page, PageFacts } from "../ui/page.tsx";
import { Status } from "../ui/status.tsx";
import { exactTime } from "../ui/time.ts";
import { ExportProgress } from "./export-progress.tsx";
import styles from "./export-page.module.css";
import { snippetsFor } from "./snippets.ts";

/** Shows one export: its progress, its errors, and how to read its files. */
export default function ExportPage({ exportId }: { exportId: string }): ReactNode {
  const tracing = useTracing();
  const queries = useQueryClient();
  const { data, error } = useQuery(exportQuery(tracing, exportId));
  const isFollowed = data !== undefined && !isOver(data.status);
  const runs = useQuery({
    ...exportRunsQuery(tracing, exportId, data?.status),
    placeholderData: (before) => before,
  });
  const destinations = useQuery(destinationsQuery(tracing));
  const projectId = data?.session_id;
  const project = useQuery({
    ...projectQuery(tracing, projectId ?? ""),
    enabled: projectId !== undefined,
  });
  const cancel = useMutation({
    mutationFn: () =>
      tracing(`/bulk-exports/${exportId}`, { method: "PATCH", body: { status: "Cancelled" } }),
    onSettled: () => queries.invalidateQueries({ queryKey: ["exports"] }),
  });
  const destination = destinations.data?.find(({ id }) => id === data?.bulk_export_destination_id);
  const problem = error ?? runs.error ?? cancel.error;
  return (
    <Page
      title={project.data === undefined ? "Export" : `Export of ${project.data.name}`}
      trail={<Link href="/exports">Exports</Link>}
      actions={
        isFollowed ? (
          <Button disabled={cancel.isPending} onClick={() => cancel.mutate()}>
            Cancel
          </Button>
        ) : null
      }
    >
      {problem === null ? null : <ErrorNotice error={problem} />}
      {data === undefined ? null : (
        <PageFacts>
          <Status status={data.status.toLowerCase()} />
          <span>
            {exactTime(data.start_time)} to{" "}
            {data.end_time === null ? "now" : exactTime(data.end_time)}
          </span>
          <span>{data.compression}</span>
          {data.filter === null ? null : <code>{data.filter}</code>}
          {data.hold_reason === null ? null : <span>{data.hold_reason}</span>}
        </PageFacts>
      )}
      <ExportProgress
        runs={runs.data ?? []}
        since={isFollowed && data.interval_hours === null ? data.created_at : null}
      />
      {data === undefined || destination === undefined ? null : (
        <section className={styles.snippets} aria-label="How to read the files">
          <h2>Read the files</h2>
          {snippetsFor(data, destination).map(({ name, text }) => (
            <div key={name}>
              <h3>{name}</h3>
              <CodeBlock text={text} />
            </div>
          ))}
        </section>
      )}
    </Page>
  );
}
