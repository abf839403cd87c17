import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { destinationsQuery, exportsQuery } from "../api/exports.ts";
import { projectsQuery } from "../api/projects.ts";
import { useTracing } from "../api/tracing.ts";
import { ButtonLink } from "../ui/button.tsx";
import { EmptyState } from "../ui/empty-state.tsx";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { Page } from "../ui/page.tsx";
import { Status } from "../ui/status.tsx";
import { ago, exactTime } from "../ui/time.ts";
import styles from "./exports-page.module.css";

export default function ExportsPage(): ReactNode {
  const tracing = useTracing();
  const destinations = useQuery(destinationsQuery(tracing));
  const projects = useQuery(projectsQuery(tracing));
  const exports = useQuery(exportsQuery(tracing));
  const error = destinations.error ?? exports.error;
  const nameOf = (id: string): string =>
    projects.data?.find((project) => project.id === id)?.name ?? "a project";
  const bucketOf = (id: string): string =>
    destinations.data?.find((destination) => destination.id === id)?.display_name ?? "";
  return (
    <Page
      title="Exports"
      actions={
        <div className={styles.actions}>
          <Link href="/exports/destinations">Destinations</Link>
          <ButtonLink href="/exports/new">New export</ButtonLink>
        </div>
      }
    >
      {error === null ? null : <ErrorNotice error={error} />}
      {exports.data?.length === 0 ? (
        <EmptyState title="Nothing has been exported yet">
          <p>
            An export writes the runs of a project into a bucket, as Parquet files that DuckDB,
            Spark and ClickHouse read. <Link href="/exports/new">Start one</Link>.
          </p>
        </EmptyState>
      ) : (
        <ul className={styles.list}>
          {exports.data?.map((one) => (
            <li key={one.id} className={styles.row}>
              <Link href={`/exports/${one.id}`} className={styles.name}>
                {nameOf(one.session_id)}
              </Link>
              <span className={styles.range}>
                {exactTime(one.start_time)} to{" "}
                {one.end_time === null
                  ? `now, every ${one.interval_hours} h`
                  : exactTime(one.end_time)}
              </span>
              <span className={styles.range}>{bucketOf(one.bulk_export_destination_id)}</span>
              <Status status={one.status.toLowerCase()} />
              <span className={styles.time}>{ago(one.created_at)}</span>
            </li>
          ))}
        </ul>
      )}
    </Page>
  );
}
