import { scaleLinear, scaleTime } from "d3-scale";
import {
  type KeyboardEvent,
  type PointerEvent,
  type ReactNode,
  type RefCallback,
  useCallback,
  useState,
} from "react";
import styles from "./chart.module.css";
import { linePath, type Series } from "./series.ts";

const HEIGHT = 150;
const MARGIN = { top: 8, right: 8, bottom: 20, left: 52 };
const TICK_PX = 90;
const TWO_DAYS_MS = 2 * 86_400_000;
const STEPS: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1, PageDown: -10, PageUp: 10 };

type Props = {
  title: string;
  /** Starts of the intervals, in milliseconds since the epoch. */
  times: readonly number[];
  series: readonly Series[];
  /** Bars are stacked, the last series at the bottom; lines are drawn separately. */
  kind: "bars" | "lines";
  format: (value: number) => string;
};

/**
 * Draws figures over time. The pointer or the arrow keys select an interval, whose figures are then shown as
 * text.
 */
export function Chart({ title, times, series, kind, format }: Props): ReactNode {
  const [box, width] = useWidth();
  const [chosen, setChosen] = useState<number | null>(null);
  const first = times[0] ?? 0;
  const step = (times[1] ?? first + 1) - first;
  const end = (times.at(-1) ?? first) + step;
  const heights = series.flatMap(({ values }) => values.map((value) => value ?? 0));
  const x = scaleTime([first, end], [MARGIN.left, Math.max(width - MARGIN.right, MARGIN.left + 1)]);
  const y = scaleLinear([0, Math.max(...heights) || 1], [HEIGHT - MARGIN.bottom, MARGIN.top]).nice(
    3,
  );
  const at = chosen === null ? null : Math.min(chosen, times.length - 1);
  const time = at === null ? undefined : times[at];
  const words = series
    .map(({ name, values }) => {
      const value = values[at ?? -1];
      return `${name} ${value == null ? "–" : format(value)}`;
    })
    .join(", ");
  const readout = time === undefined ? "" : `${moment.format(time)}: ${words}`;

  function point({ clientX, currentTarget }: PointerEvent): void {
    const left = currentTarget.getBoundingClientRect().left;
    const index = Math.floor((x.invert(clientX - left).getTime() - first) / step);
    setChosen(Math.min(Math.max(index, 0), times.length - 1));
  }

  function move(event: KeyboardEvent): void {
    const by = STEPS[event.key];
    if (by === undefined) return;
    event.preventDefault();
    setChosen(Math.min(Math.max((at ?? times.length) + by, 0), times.length - 1));
  }

  // A label at the very end would be cut off.
  const ticks = x
    .ticks(Math.max(Math.floor(width / TICK_PX), 2))
    .filter((tick) => x(tick) < width - MARGIN.left / 2);
  const isEmpty = series.every(({ values }) => values.every((value) => !value));
  const axis = end - first > TWO_DAYS_MS ? day : hour;
  const bar = Math.max(x(first + step) - x(first) - 1, 1);
  return (
    <figure className={styles.chart} ref={box}>
      <figcaption>
        <h2>{title}</h2>
        {at === null ? (
          <ul className={styles.legend}>
            {series.map(({ name, tone }) => (
              <li key={name} className={styles[tone]}>
                {name}
              </li>
            ))}
          </ul>
        ) : (
          <p className={styles.readout}>{readout}</p>
        )}
        {isEmpty ? <p className={styles.readout}>nothing in this time</p> : null}
      </figcaption>
      <svg
        className={styles.plot}
        width={width}
        height={HEIGHT}
        role="slider"
        tabIndex={0}
        aria-label={`${title} over time`}
        aria-valuemin={0}
        aria-valuemax={times.length - 1}
        aria-valuenow={at ?? times.length - 1}
        aria-valuetext={readout === "" ? "no interval is chosen" : readout}
        onPointerMove={point}
        onPointerLeave={() => setChosen(null)}
        onKeyDown={move}
        onBlur={() => setChosen(null)}
      >
        {(isEmpty ? [0] : y.ticks(3)).map((value) => (
          <g key={value}>
            <line className={styles.grid} x1={MARGIN.left} x2={width} y1={y(value)} y2={y(value)} />
            <text className={styles.value} x={MARGIN.left - 6} y={y(value) + 4}>
              {format(value)}
            </text>
          </g>
        ))}
        {ticks.map((tick) => (
          <text key={tick.getTime()} className={styles.time} x={x(tick)} y={HEIGHT - 4}>
            {axis.format(tick)}
          </text>
        ))}
        {time === undefined ? null : (
          <rect
            className={styles.chosen}
            x={x(time)}
            y={MARGIN.top}
            width={bar + 1}
            height={HEIGHT - MARGIN.top - MARGIN.bottom}
          />
        )}
        {series.map(({ name, tone, values }) =>
          kind === "lines" ? (
            <path
              key={name}
              className={`${styles.line} ${styles[tone]}`}
              d={linePath(values, (index) => x((times[index] ?? 0) + step / 2), y)}
            />
          ) : (
            <g key={name} className={styles[tone]}>
              {values.map((value, index) => {
                const start = times[index];
                if (!value || start === undefined) return null;
                return (
                  <rect
                    key={start}
                    x={x(start)}
                    y={y(value)}
                    width={bar}
                    height={y(0) - y(value)}
                  />
                );
              })}
            </g>
          ),
        )}
      </svg>
    </figure>
  );
}

const hour = new Intl.DateTimeFormat("en-GB", { timeStyle: "short" });
const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
const moment = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });

/** Tracks the width of an element. */
function useWidth(): [RefCallback<HTMLElement>, number] {
  const [width, setWidth] = useState(0);
  const measure = useCallback((element: HTMLElement | null) => {
    if (element === null) return undefined;
    const observer = new ResizeObserver(([entry]) => {
      if (entry !== undefined) setWidth(Math.floor(entry.contentRect.width));
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [measure, width];
}
