import type { ReactNode } from "react";
import type { Project } from "../api/projects.ts";
import { cost, count, percentage } from "../ui/figures.ts";
import { duration } from "../ui/time.ts";
import styles from "./project-figures.module.css";

/** What a project's traces come to, all together. */
export function ProjectFigures({ project }: { project: Project | undefined }): ReactNode {
  const seconds = (value: number | null | undefined): string =>
    value == null ? "–" : duration(value);
  const figures = [
    ["Runs", count(project?.run_count)],
    ["Errors", percentage(project?.error_rate)],
    ["Median", seconds(project?.latency_p50)],
    ["99 %", seconds(project?.latency_p99)],
    ["Tokens", count(project?.total_tokens)],
    ["Cost", cost(project?.total_cost)],
  ];
  return (
    <dl className={styles.figures}>
      {figures.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
