import type { ReactNode } from "react";
import type { Run } from "../api/runs.ts";
import { cost, count } from "../ui/figures.ts";
import { JsonView } from "../ui/json-view.tsx";
import { Status } from "../ui/status.tsx";
import { duration, exactTime, secondsOf } from "../ui/time.ts";
import { Payload } from "./payload.tsx";
import { Facts } from "../ui/facts.tsx";
import styles from "./run-details.module.css";

type Props = { run: Run; feedback?: ReactNode };

export function RunDetails({ run, feedback }: Props): ReactNode {
  const { metadata, ...extra } = run.extra ?? {};
  const seconds = secondsOf(run.start_time, run.end_time);
  const first = secondsOf(run.start_time, run.first_token_time);
  const facts: [string, ReactNode][] = [
    ["Status", <Status key="status" status={run.status} />],
    ["Started", exactTime(run.start_time)],
    ["Latency", seconds === undefined ? "–" : duration(seconds)],
    ...(first === undefined ? [] : [["First token", duration(first)] as [string, string]]),
    ["Tokens", tokens(run)],
    ["Cost", cost(run.total_cost)],
  ];
  return (
    <div className={styles.details}>
      <h2>{run.name}</h2>
      <Facts facts={facts} size="details" />
      {run.tags == null || run.tags.length === 0 ? null : (
        <ul className={styles.tags} aria-label="Tags">
          {run.tags.map((tag) => (
            <li key={tag}>{tag}</li>
          ))}
        </ul>
      )}
      {feedback}
      {run.error == null ? null : (
        <Part title="Error">
          <pre className={styles.error}>{run.error}</pre>
        </Part>
      )}
      <Part title="Input">
        <Payload value={run.inputs} />
      </Part>
      <Part title="Output">
        <Payload value={run.outputs} />
      </Part>
      <Part title="Metadata">
        <JsonView value={metadata ?? {}} />
      </Part>
      {run.events == null || run.events.length === 0 ? null : (
        <Part title="Events">
          <JsonView value={run.events} depth={1} />
        </Part>
      )}
      {Object.keys(extra).length === 0 ? null : (
        <Part title="More">
          <JsonView value={extra} depth={1} />
        </Part>
      )}
    </div>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }): ReactNode {
  return (
    <section className={styles.part}>
      <h3>{title}</h3>
      {children}
    </section>
  );
}

function tokens({ total_tokens, prompt_tokens, completion_tokens }: Run): string {
  if (total_tokens === null || total_tokens === 0) return "–";
  return `${count(total_tokens)} (${count(prompt_tokens)} in, ${count(completion_tokens)} out)`;
}
