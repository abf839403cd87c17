import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link, useSearchParams } from "wouter";
import { projectQuery } from "../api/projects.ts";
import { runsQuery } from "../api/runs.ts";
import { useTracing } from "../api/tracing.ts";
import { EmptyState } from "../ui/empty-state.tsx";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { usePageTitle } from "../ui/use-page-title.ts";
import { FilterField } from "./filter-field.tsx";
import { ProjectFigures } from "./project-figures.tsx";
import styles from "./runs-page.module.css";
import { RunsTable } from "./runs-table.tsx";

/** New runs appear by themselves. */
const TAIL_MS = 5_000;

export default function RunsPage({ projectId }: { projectId: string }): ReactNode {
  const tracing = useTracing();
  const [search, setSearch] = useSearchParams();
  const filter = search.get("filter") ?? "";
  const project = useQuery(projectQuery(tracing, projectId));
  const runs = useInfiniteQuery({
    ...runsQuery(tracing, projectId, filter),
    // With more pages every one of them would be asked again.
    refetchInterval: ({ state }) => (state.data?.pages.length === 1 ? TAIL_MS : false),
  });
  usePageTitle(project.data?.name ?? "Traces");
  const rows = runs.data?.pages.flatMap((page) => page.runs) ?? [];
  const setFilter = (text: string): void => setSearch(text === "" ? {} : { filter: text });

  return (
    <div className={styles.page}>
      <header className={styles.header}>
        <div>
          <p className={styles.trail}>
            <Link href="/traces">Traces</Link>
          </p>
          <h1>{project.data?.name ?? "\u00a0"}</h1>
        </div>
        <ProjectFigures project={project.data} />
      </header>
      <FilterField filter={filter} onFilter={setFilter} />
      {project.isError ? <ErrorNotice error={project.error} /> : null}
      {runs.isError ? <ErrorNotice error={runs.error} retry={runs.refetch} /> : null}
      {runs.isSuccess && rows.length === 0 ? (
        <EmptyState title={filter === "" ? "No run has been traced yet" : "No run is like that"}>
          <p>
            {filter === ""
              ? "Runs of agents and of programs that trace into this project are listed here."
              : "Another filter, or none, shows more."}
          </p>
        </EmptyState>
      ) : (
        <RunsTable
          runs={rows}
          hasMore={runs.hasNextPage}
          onMore={() => {
            if (!runs.isFetching) void runs.fetchNextPage();
          }}
        />
      )}
    </div>
  );
}
