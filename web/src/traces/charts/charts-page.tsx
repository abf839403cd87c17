import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useMemo } from "react";
import { useSearchParams } from "wouter";
import { chartsQuery, type Figures, type Interval, RANGES } from "../../api/charts.ts";
import { useTracing } from "../../api/tracing.ts";
import { Button } from "../../ui/button.tsx";
import { ErrorNotice } from "../../ui/error-notice.tsx";
import { cost, count } from "../../ui/figures.ts";
import { duration } from "../../ui/time.ts";
import { ProjectHeader } from "../project-header.tsx";
import { Chart } from "./chart.tsx";
import styles from "./charts-page.module.css";
import type { Series } from "./series.ts";

const DEFAULT_RANGE = "24 h";

/** Shows charts of a project's root runs over time. The address contains the range and the filter. */
export default function ChartsPage({ projectId }: { projectId: string }): ReactNode {
  const tracing = useTracing();
  const [search, setSearch] = useSearchParams();
  const filter = search.get("filter") ?? "";
  const named = search.get("range") ?? DEFAULT_RANGE;
  const range = RANGES.find(({ name }) => name === named) ?? RANGES[0];
  const { data, error, refetch } = useQuery({
    ...chartsQuery(tracing, { projectId, range, filter }),
    placeholderData: (before) => before,
  });
  return (
    <div className={styles.page}>
      <ProjectHeader projectId={projectId} view="charts" filter={filter} />
      <div className={styles.ranges} role="group" aria-label="Time">
        {RANGES.map(({ name }) => (
          <Button
            key={name}
            kind="quiet"
            size="s"
            aria-pressed={name === range.name}
            onClick={() => setSearch({ range: name, ...(filter === "" ? {} : { filter }) })}
          >
            {name}
          </Button>
        ))}
        {filter === "" ? null : <code className={styles.filter}>{filter}</code>}
      </div>
      {error === null ? null : <ErrorNotice error={error} retry={refetch} />}
      {data === undefined ? null : <Charts intervals={data} />}
    </div>
  );
}

function Charts({ intervals }: { intervals: readonly Interval[] }): ReactNode {
  const { times, of } = useMemo(
    () => ({
      times: intervals.map(({ at }) => at),
      of: (
        name: string,
        tone: Series["tone"],
        value: (figures: Figures) => number | null,
      ): Series => ({
        name,
        tone,
        values: intervals.map(({ figures }) => (figures === null ? null : value(figures))),
      }),
    }),
    [intervals],
  );
  const percentiles = (figure: "latency" | "first_token"): Series[] => [
    of("median", "main", (each) => each[`${figure}_p50`]),
    of("99 %", "second", (each) => each[`${figure}_p99`]),
  ];
  const errors = ({ run_count, error_rate }: Figures): number =>
    Math.round(run_count * (error_rate ?? 0));
  return (
    <div className={styles.charts}>
      <Chart
        title="Runs"
        kind="bars"
        format={count}
        times={times}
        series={[of("runs", "main", (each) => each.run_count), of("errors", "bad", errors)]}
      />
      <Chart
        title="Latency"
        kind="lines"
        format={duration}
        times={times}
        series={percentiles("latency")}
      />
      <Chart
        title="First token"
        kind="lines"
        format={duration}
        times={times}
        series={percentiles("first_token")}
      />
      <Chart
        title="Tokens"
        kind="bars"
        format={count}
        times={times}
        series={[of("tokens", "main", (each) => each.total_tokens)]}
      />
      <Chart
        title="Cost"
        kind="bars"
        format={(value) => (value === 0 ? "$0" : cost(value))}
        times={times}
        series={[of("cost", "main", (each) => Number(each.total_cost ?? 0))]}
      />
    </div>
  );
}
