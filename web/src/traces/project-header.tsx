import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { type Project, projectQuery } from "../api/projects.ts";
import { useTracing } from "../api/tracing.ts";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { cost, count, percentage } from "../ui/figures.ts";
import { duration } from "../ui/time.ts";
import { usePageTitle } from "../ui/use-page-title.ts";
import { ViewLinks } from "../ui/view-links.tsx";
import { Facts } from "../ui/facts.tsx";
import styles from "./project-header.module.css";

type Props = { projectId: string; view: "runs" | "charts"; filter: string };

/** Shows a project's name, its figures, and links to its views, which keep the filter. */
export function ProjectHeader({ projectId, view, filter }: Props): ReactNode {
  const project = useQuery(projectQuery(useTracing(), projectId));
  const name = project.data?.name;
  usePageTitle(name ?? "Traces");
  const query = filter === "" ? "" : `?${new URLSearchParams({ filter })}`;
  return (
    <>
      <header className={styles.header}>
        <div>
          <p className={styles.trail}>
            <Link href="/traces">Traces</Link>
          </p>
          <h1>{name ?? "\u00a0"}</h1>
        </div>
        <Figures project={project.data} />
      </header>
      {project.isError ? <ErrorNotice error={project.error} /> : null}
      <ViewLinks
        label="Views of the project"
        views={[
          { name: "Runs", href: `/traces/${projectId}${query}`, isHere: view === "runs" },
          {
            name: "Charts",
            href: `/traces/${projectId}/charts${query}`,
            isHere: view === "charts",
          },
        ]}
      />
    </>
  );
}

/** Shows the totals of a project's traces. */
function Figures({ project }: { project: Project | undefined }): ReactNode {
  const seconds = (value: number | null | undefined): string =>
    value == null ? "–" : duration(value);
  const figures: [string, ReactNode][] = [
    ["Runs", count(project?.run_count)],
    ["Errors", percentage(project?.error_rate)],
    ["Median", seconds(project?.latency_p50)],
    ["99 %", seconds(project?.latency_p99)],
    ["Tokens", count(project?.total_tokens)],
    ["Cost", cost(project?.total_cost)],
  ];
  return <Facts facts={figures} size="figures" />;
}
