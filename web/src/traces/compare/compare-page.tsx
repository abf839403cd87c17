import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { Link } from "wouter";
import { type Run, runQuery } from "../../api/runs.ts";
import { useTracing } from "../../api/tracing.ts";
import { Button } from "../../ui/button.tsx";
import { ErrorNotice } from "../../ui/error-notice.tsx";
import { cost, count } from "../../ui/figures.ts";
import { Page } from "../../ui/page.tsx";
import { duration, exactTime, secondsOf } from "../../ui/time.ts";
import { ChooseRun } from "./choose-run.tsx";
import styles from "./compare-page.module.css";
import { type Difference, differencesOf } from "./differences.ts";

/** Maximum length of a text; longer ones are cut, since the run's own page shows all of it. */
const MAX_TEXT = 4_000;

type Props = { left: string; right: string | undefined };

/** Compares two runs: their costs, and the differences of their inputs and outputs. */
export default function ComparePage({ left, right }: Props): ReactNode {
  const tracing = useTracing();
  const one = useQuery(runQuery(tracing, left));
  const other = useQuery({ ...runQuery(tracing, right ?? ""), enabled: right !== undefined });
  const error = one.error ?? other.error;
  return (
    <Page title="Compare" trail={<Link href={`/runs/${left}`}>{one.data?.name ?? "Run"}</Link>}>
      {error === null ? null : <ErrorNotice error={error} />}
      {right === undefined && one.data !== undefined ? <ChooseRun run={one.data} /> : null}
      {one.data === undefined || other.data === undefined ? null : (
        <Comparison left={one.data} right={other.data} />
      )}
    </Page>
  );
}

function Comparison({ left, right }: { left: Run; right: Run }): ReactNode {
  const [showsAll, setShowsAll] = useState(false);
  const parts: [string, Difference[]][] = [
    ["Figures", differencesOf(figuresOf(left), figuresOf(right))],
    ["Input", differencesOf(left.inputs, right.inputs)],
    ["Output", differencesOf(left.outputs, right.outputs)],
    ["Metadata", differencesOf(left.extra?.["metadata"], right.extra?.["metadata"])],
  ];
  return (
    <div className={styles.comparison}>
      <Button size="s" aria-pressed={showsAll} onClick={() => setShowsAll(!showsAll)}>
        {showsAll ? "Only what differs" : "Also what is the same"}
      </Button>
      <div className={styles.scroll} tabIndex={0} role="region" aria-label="Comparison">
        <table className={styles.table}>
          <thead>
            <tr>
              <th scope="col">What</th>
              {[left, right].map((run) => (
                <th key={run.id} scope="col">
                  <Link href={`/runs/${run.id}`}>{run.name}</Link>
                  <small>{exactTime(run.start_time)}</small>
                </th>
              ))}
            </tr>
          </thead>
          {parts.map(([title, differences]) => (
            <tbody key={title}>
              <tr>
                <th colSpan={3} scope="rowgroup" className={styles.part}>
                  {title}
                </th>
              </tr>
              {differences.every(({ isSame }) => isSame) && !showsAll ? (
                <tr>
                  <td colSpan={3} className={styles.same}>
                    {differences.length === 0 ? "Neither has any." : "The same in both."}
                  </td>
                </tr>
              ) : null}
              {differences
                .filter(({ isSame }) => showsAll || !isSame)
                .map((difference) => (
                  <Row key={difference.path} difference={difference} />
                ))}
            </tbody>
          ))}
        </table>
      </div>
    </div>
  );
}

function Row({ difference: { path, left, right, isSame } }: { difference: Difference }): ReactNode {
  return (
    <tr className={isSame ? "" : styles.differs}>
      <th scope="row">{path}</th>
      {[left, right].map((text, side) => (
        <td key={side === 0 ? "left" : "right"}>
          {text === undefined ? <span className={styles.none}>nothing</span> : cut(text)}
        </td>
      ))}
    </tr>
  );
}

function cut(text: string): string {
  const more = text.length - MAX_TEXT;
  return more > 0 ? `${text.slice(0, MAX_TEXT)} … and ${more} more characters` : text;
}

function figuresOf(run: Run): Record<string, string> {
  const seconds = secondsOf(run.start_time, run.end_time);
  const first = secondsOf(run.start_time, run.first_token_time);
  return {
    Status: run.status,
    Latency: seconds === undefined ? "–" : duration(seconds),
    "First token": first === undefined ? "–" : duration(first),
    "Tokens in": count(run.prompt_tokens),
    "Tokens out": count(run.completion_tokens),
    Cost: cost(run.total_cost),
    ...(run.error === null ? {} : { Error: run.error }),
  };
}
