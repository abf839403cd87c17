import type { ReactNode } from "react";
import type { RunSummary } from "../api/runs.ts";
import { usePageTitle } from "../ui/use-page-title.ts";
import styles from "./trace-layout.module.css";
import { Waterfall } from "./waterfall.tsx";

type Props = {
  trail: ReactNode;
  actions: ReactNode;
  notice: ReactNode;
  runs: readonly RunSummary[];
  selectedId: string;
  onSelect: (id: string) => void;
  children: ReactNode;
};

/** Shows a trace: its runs with their times on the left, and beside them the selected run. */
export function TraceLayout(props: Props): ReactNode {
  const { trail, actions, notice, runs, selectedId, onSelect, children } = props;
  const root = runs.find(({ parent_run_id }) => parent_run_id === null) ?? runs[0];
  usePageTitle(root?.name ?? "Trace");
  return (
    <div className={styles.page}>
      <header className={styles.header}>
        <div>
          <p className={styles.trail}>{trail}</p>
          <h1>{root?.name ?? "\u00a0"}</h1>
        </div>
        {actions}
      </header>
      {notice === null ? null : <div className={styles.notice}>{notice}</div>}
      <div className={styles.columns}>
        <Waterfall runs={runs} selectedId={selectedId} onSelect={onSelect} />
        <section className={styles.details} aria-label="Run" tabIndex={0}>
          {children}
        </section>
      </div>
    </div>
  );
}
