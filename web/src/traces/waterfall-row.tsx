import { memo, type ReactNode } from "react";
import { count } from "../ui/figures.ts";
import { duration } from "../ui/time.ts";
import type { Span } from "./span-tree.ts";
import styles from "./waterfall.module.css";

const INDENT_PX = 14;
const MAX_INDENT = 12;
/** Minimum width of a bar, as a fraction of the trace's duration; shorter bars would be invisible. */
const MIN_WIDTH = 0.004;

type Props = { span: Span; top: number; isSelected: boolean; onSelect: (id: string) => void };

/** Memoised, so that a row that stays visible during scrolling is not rendered again. */
export const WaterfallRow = memo(function WaterfallRow({
  span,
  top,
  isSelected,
  onSelect,
}: Props): ReactNode {
  const { run, depth, from, to, seconds } = span;
  const kind = styles[run.run_type] ?? styles.chain;
  return (
    <button
      type="button"
      id={`span-${run.id}`}
      role="option"
      aria-selected={isSelected}
      tabIndex={-1}
      className={styles.row}
      style={{ transform: `translateY(${top}px)` }}
      onClick={() => onSelect(run.id)}
    >
      <span
        className={styles.label}
        style={{ paddingLeft: Math.min(depth, MAX_INDENT) * INDENT_PX }}
      >
        <span className={run.status === "error" ? styles.failed : styles.name}>{run.name}</span>
        <span className={styles.kind}>{run.run_type}</span>
        {run.total_tokens === null || run.total_tokens === 0 ? null : (
          <span className={styles.tokens}>{count(run.total_tokens)} tokens</span>
        )}
        <span className={styles.time}>{seconds === undefined ? "running" : duration(seconds)}</span>
      </span>
      <span className={styles.track}>
        <span
          className={[styles.bar, run.status === "error" ? styles.error : kind].join(" ")}
          style={{
            left: `${Math.min(from, 1 - MIN_WIDTH) * 100}%`,
            width: `${Math.max(to - from, MIN_WIDTH) * 100}%`,
          }}
        />
      </span>
    </button>
  );
});
