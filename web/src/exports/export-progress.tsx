import type { ReactNode } from "react";
import { type ExportRun, isOver } from "../api/exports.ts";
import { counted } from "../ui/figures.ts";
import { Status } from "../ui/status.tsx";
import { duration, exactTime } from "../ui/time.ts";
import styles from "./export-progress.module.css";

type Props = {
  runs: readonly ExportRun[];
  /** Start of the export; null when it has ended, or has no end. */
  since: string | null;
};

/** Shows the progress of an export: the whole as a bar, and each part with its rows, files and errors. */
export function ExportProgress({ runs, since }: Props): ReactNode {
  if (runs.length === 0)
    return <p className={styles.waiting}>Its parts are listed here once it has begun.</p>;
  const done = runs.filter(({ status }) => isOver(status)).length;
  const rows = runs.reduce((sum, { metadata }) => sum + metadata.result.rows_written, 0);
  const files = runs.reduce((sum, { metadata }) => sum + metadata.result.exported_files.length, 0);
  return (
    <>
      <label className={styles.bar}>
        <progress max={runs.length} value={done} />
        <span>
          {done} of {counted(runs.length, "part")}, {counted(rows, "row")}, {counted(files, "file")}
          {since === null ? "" : remaining(since, done, runs.length)}
        </span>
      </label>
      <ul className={styles.parts} aria-label="Parts">
        {runs.map(({ id, status, start_time, retry_number, errors, metadata: { result } }) => (
          <li key={id}>
            <Status status={status.toLowerCase()} />
            <span>from {exactTime(start_time)}</span>
            <span>
              {counted(result.rows_written, "row")}, {counted(result.exported_files.length, "file")}
            </span>
            {retry_number === 0 ? null : <span>attempt {retry_number + 1}</span>}
            {Object.entries(errors ?? {}).map(([name, text]) => (
              <p key={name} className={styles.error}>
                {name}: {text}
              </p>
            ))}
          </li>
        ))}
      </ul>
    </>
  );
}

/** Estimates the remaining time from the average time of the finished parts. */
function remaining(since: string, done: number, all: number): string {
  if (done === 0 || done === all) return "";
  const seconds = (Date.now() - Date.parse(since)) / 1000;
  return `, about ${duration((seconds / done) * (all - done))} left`;
}
