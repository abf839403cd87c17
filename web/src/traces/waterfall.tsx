import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, type ReactNode, useEffect, useMemo, useRef } from "react";
import type { RunSummary } from "../api/runs.ts";
import { spansOf } from "./span-tree.ts";
import styles from "./waterfall.module.css";
import { WaterfallRow } from "./waterfall-row.tsx";

const ROW_PX = 44;
const OVERSCAN = 8;
const STEPS: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 };

type Props = {
  runs: readonly RunSummary[];
  selectedId: string;
  onSelect: (id: string) => void;
};

/** Draws the runs of a trace as bars on a time axis. Of thousands of runs, only the visible ones are rendered. */
export function Waterfall({ runs, selectedId, onSelect }: Props): ReactNode {
  const scroll = useRef<HTMLDivElement>(null);
  const spans = useMemo(() => spansOf(runs), [runs]);
  const selected = spans.findIndex(({ run }) => run.id === selectedId);
  const virtualizer = useVirtualizer({
    count: spans.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => ROW_PX,
    overscan: OVERSCAN,
  });
  useEffect(() => {
    if (selected >= 0) virtualizer.scrollToIndex(selected, { align: "auto" });
  }, [selected, virtualizer]);

  function onKeyDown(event: KeyboardEvent): void {
    const step = STEPS[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const next = spans[Math.min(Math.max(selected + step, 0), spans.length - 1)];
    if (next !== undefined) onSelect(next.run.id);
  }

  return (
    <div
      ref={scroll}
      className={styles.scroll}
      role="listbox"
      aria-label="Runs of the trace"
      aria-activedescendant={selected < 0 ? undefined : `span-${selectedId}`}
      tabIndex={0}
      onKeyDown={onKeyDown}
    >
      <div
        className={styles.all}
        role="presentation"
        style={{ height: virtualizer.getTotalSize() }}
      >
        {virtualizer.getVirtualItems().map(({ index, start }) => {
          const span = spans[index];
          return span === undefined ? null : (
            <WaterfallRow
              key={span.run.id}
              span={span}
              top={start}
              isSelected={index === selected}
              onSelect={onSelect}
            />
          );
        })}
      </div>
    </div>
  );
}
