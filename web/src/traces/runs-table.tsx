import { useVirtualizer } from "@tanstack/react-virtual";
import { memo, type ReactNode, useCallback, useEffect, useRef } from "react";
import { Link } from "wouter";
import type { RunSummary } from "../api/runs.ts";
import { cost, count } from "../ui/figures.ts";
import { Status } from "../ui/status.tsx";
import { ago, duration, exactTime, secondsOf } from "../ui/time.ts";
import styles from "./runs-table.module.css";

const ROW_PX = 40;
const OVERSCAN = 8;
/** The next page is requested this many rows before the end. */
const AHEAD = 20;

type Props = { runs: readonly RunSummary[]; hasMore: boolean; onMore: () => void };

/** A table of any length, which renders only the visible rows. */
export function RunsTable({ runs, hasMore, onMore }: Props): ReactNode {
  const scroll = useRef<HTMLDivElement>(null);
  // With a new function all rows would be measured again, so it stays the same while the runs do.
  const getItemKey = useCallback((index: number) => runs[index]?.id ?? index, [runs]);
  const virtualizer = useVirtualizer({
    count: runs.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => ROW_PX,
    overscan: OVERSCAN,
    getItemKey,
  });
  const rows = virtualizer.getVirtualItems();
  const last = rows.at(-1)?.index ?? 0;
  const isNearEnd = hasMore && last >= runs.length - AHEAD;
  useEffect(() => {
    if (isNearEnd) onMore();
  }, [isNearEnd, onMore]);

  return (
    <div className={styles.scroll} ref={scroll} tabIndex={0} role="region" aria-label="Runs">
      <div className={styles.table} role="table" aria-label="Runs" aria-rowcount={runs.length + 1}>
        <div role="rowgroup" className={styles.head}>
          <div className={styles.row} role="row" aria-rowindex={1}>
            {["Name", "Input", "Output", "Status", "Latency", "Tokens", "Cost", "Started"].map(
              (name) => (
                <span key={name} role="columnheader">
                  {name}
                </span>
              ),
            )}
          </div>
        </div>
        <div role="rowgroup" className={styles.body} style={{ height: virtualizer.getTotalSize() }}>
          {rows.map(({ index, key, start }) => {
            const run = runs[index];
            return run === undefined ? null : (
              <RunRow key={key} run={run} index={index} top={start} />
            );
          })}
        </div>
      </div>
    </div>
  );
}

type RowProps = { run: RunSummary; index: number; top: number };

/** Memoised, so that a row that stays visible during scrolling is not rendered again. */
const RunRow = memo(function RunRow({ run, index, top }: RowProps): ReactNode {
  const seconds = secondsOf(run.start_time, run.end_time);
  return (
    <div
      className={`${styles.row} ${styles.item}`}
      role="row"
      aria-rowindex={index + 2}
      style={{ transform: `translateY(${top}px)` }}
    >
      <span role="cell">
        <Link href={`/runs/${run.id}`} className={styles.name}>
          {run.name}
        </Link>
      </span>
      <span role="cell">{run.inputs_preview}</span>
      <span role="cell">{run.error ?? run.outputs_preview}</span>
      <span role="cell">
        <Status status={run.status} />
      </span>
      <span role="cell">{seconds === undefined ? "–" : duration(seconds)}</span>
      <span role="cell">{count(run.total_tokens)}</span>
      <span role="cell">{cost(run.total_cost)}</span>
      <span role="cell" title={exactTime(run.start_time)}>
        {ago(run.start_time)}
      </span>
    </div>
  );
});
