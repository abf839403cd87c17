import { useInfiniteQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { type Run, runsQuery } from "../../api/runs.ts";
import { useTracing } from "../../api/tracing.ts";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorNotice } from "../../ui/error-notice.tsx";
import { Status } from "../../ui/status.tsx";
import { ago, duration, secondsOf } from "../../ui/time.ts";
import styles from "./compare-page.module.css";

/** Lists the project's other runs of the same name, each with a link to the comparison. */
export function ChooseRun({ run }: { run: Run }): ReactNode {
  const filter = `eq(name, ${JSON.stringify(run.name)})`;
  const runs = useInfiniteQuery(
    runsQuery(useTracing(), run.session_id, filter, { isRoot: run.parent_run_id === null }),
  );
  if (runs.isError) return <ErrorNotice error={runs.error} retry={runs.refetch} />;
  const others = runs.data?.pages[0]?.runs.filter(({ id }) => id !== run.id);
  if (others?.length === 0) {
    return (
      <EmptyState title="There is no other run to compare it with">
        <p>Another run of the same name in the same project appears here.</p>
      </EmptyState>
    );
  }
  return (
    <ul className={styles.choice} aria-label="Compare with">
      {others?.map(({ id, start_time, end_time, status, inputs_preview }) => {
        const seconds = secondsOf(start_time, end_time);
        return (
          <li key={id}>
            <Link href={`/compare/${run.id}/${id}`}>{ago(start_time)}</Link>
            <span className={styles.preview}>{inputs_preview}</span>
            <span>{seconds === undefined ? "–" : duration(seconds)}</span>
            <Status status={status} />
          </li>
        );
      })}
    </ul>
  );
}
