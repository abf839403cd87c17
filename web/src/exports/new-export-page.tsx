import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { destinationsQuery } from "../api/exports.ts";
import { projectsQuery } from "../api/projects.ts";
import { useTracing } from "../api/tracing.ts";
import { EmptyState } from "../ui/empty-state.tsx";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { Page } from "../ui/page.tsx";
import { DestinationForm } from "./destination-form.tsx";
import { ExportForm } from "./export-form.tsx";
import styles from "./new-export-page.module.css";

/** Creates an export, which needs a project and a destination that was set up before. */
export default function NewExportPage(): ReactNode {
  const tracing = useTracing();
  const destinations = useQuery(destinationsQuery(tracing));
  const projects = useQuery(projectsQuery(tracing));
  const error = destinations.error ?? projects.error;
  const hasBucket = destinations.data !== undefined && destinations.data.length > 0;
  return (
    <Page title="A new export" trail={<Link href="/exports">Exports</Link>}>
      {error === null ? null : <ErrorNotice error={error} />}
      {projects.data?.length === 0 ? (
        <EmptyState title="There is nothing to export yet">
          <p>
            <Link href="/agents">Chat with an agent</Link>: its runs are traces of a project.
          </p>
        </EmptyState>
      ) : null}
      {projects.data !== undefined && projects.data.length > 0 && hasBucket ? (
        <ExportForm projects={projects.data} destinations={destinations.data} />
      ) : null}
      {destinations.data === undefined ? null : (
        <details className={styles.destination} open={!hasBucket}>
          <summary>{hasBucket ? "Another destination" : "First, where the files go"}</summary>
          <DestinationForm key={destinations.data.length} />
        </details>
      )}
    </Page>
  );
}
