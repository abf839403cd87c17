import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { projectsQuery } from "../api/projects.ts";
import { useTracing } from "../api/tracing.ts";
import { CodeBlock } from "../ui/code-block.tsx";
import { EmptyState } from "../ui/empty-state.tsx";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { cost, count, percentage } from "../ui/figures.ts";
import { Page } from "../ui/page.tsx";
import styles from "../ui/table.module.css";
import { ago, duration } from "../ui/time.ts";

const SNIPPET = `LANGSMITH_TRACING=true
LANGSMITH_ENDPOINT=${location.origin}/api/v1
LANGSMITH_API_KEY=<your key>`;

export default function ProjectsPage(): ReactNode {
  const { data, error, refetch } = useQuery(projectsQuery(useTracing()));
  return (
    <Page title="Traces">
      {error === null ? null : <ErrorNotice error={error} retry={refetch} />}
      {data?.length === 0 ? (
        <EmptyState title="Nothing has been traced yet">
          <p>
            <Link href="/agents">Chat with an agent</Link>: its runs appear here. Other programs
            send theirs with these variables:
          </p>
          <CodeBlock text={SNIPPET} />
        </EmptyState>
      ) : null}
      {data === undefined || data.length === 0 ? null : (
        <div className={styles.scroll} tabIndex={0} role="region" aria-label="Projects">
          <table className={styles.table}>
            <thead>
              <tr>
                <th scope="col">Project</th>
                <th scope="col">Runs</th>
                <th scope="col">Errors</th>
                <th scope="col">Median</th>
                <th scope="col">99 %</th>
                <th scope="col">Tokens</th>
                <th scope="col">Cost</th>
                <th scope="col">Last run</th>
              </tr>
            </thead>
            <tbody>
              {data.map((project) => (
                <tr key={project.id}>
                  <th scope="row">
                    <Link href={`/traces/${project.id}`}>{project.name}</Link>
                  </th>
                  <td>{count(project.run_count)}</td>
                  <td>{percentage(project.error_rate)}</td>
                  <td>{project.latency_p50 == null ? "–" : duration(project.latency_p50)}</td>
                  <td>{project.latency_p99 == null ? "–" : duration(project.latency_p99)}</td>
                  <td>{count(project.total_tokens)}</td>
                  <td>{cost(project.total_cost)}</td>
                  <td>
                    {project.last_run_start_time_live == null
                      ? "–"
                      : ago(project.last_run_start_time_live)}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Page>
  );
}
