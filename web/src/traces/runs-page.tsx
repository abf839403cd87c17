import { useInfiniteQuery } from "@tanstack/react-query";
import { type ReactNode, useMemo } from "react";
import { useSearchParams } from "wouter";
import { runsQuery } from "../api/runs.ts";
import { useTracing } from "../api/tracing.ts";
import { EmptyState } from "../ui/empty-state.tsx";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { FilterField } from "./filter/filter-field.tsx";
import { ProjectHeader } from "./project-header.tsx";
import styles from "./runs-page.module.css";
import { RunsTable } from "./runs-table.tsx";

/** Polling interval for new runs. */
const TAIL_MS = 5_000;

export default function RunsPage({ projectId }: { projectId: string }): ReactNode {
  const tracing = useTracing();
  const [search, setSearch] = useSearchParams();
  const filter = search.get("filter") ?? "";
  const runs = useInfiniteQuery({
    ...runsQuery(tracing, projectId, filter),
    // With more pages, each of them would be loaded again.
    refetchInterval: ({ state }) => (state.data?.pages.length === 1 ? TAIL_MS : false),
  });
  const pages = runs.data?.pages;
  const rows = useMemo(() => pages?.flatMap((page) => page.runs) ?? [], [pages]);
  const setFilter = (text: string): void => setSearch(text === "" ? {} : { filter: text });

  return (
    <div className={styles.page}>
      <ProjectHeader projectId={projectId} view="runs" filter={filter} />
      <FilterField projectId={projectId} filter={filter} onFilter={setFilter} />
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
