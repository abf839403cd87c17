import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useDeferredValue, useEffect, useRef, useState } from "react";
import { useSearchParams } from "wouter";
import { LOG_LEVELS, type LogLine, logQuery } from "../api/deployment-logs.ts";
import { revisionsQuery } from "../api/deployments.ts";
import { useControlPlane } from "../api/tracing.ts";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { Field } from "../ui/form.tsx";
import { exactTime } from "../ui/time.ts";
import styles from "./deployment-logs.module.css";
import { statusWords } from "./status-words.ts";

/** Within this distance of its end, in pixels, the log follows new lines. */
const NEAR_PX = 40;

/** Shows a deployment's log as it is written. The address selects the revision. */
export function DeploymentLogs({ deploymentId }: { deploymentId: string }): ReactNode {
  const control = useControlPlane();
  const [search, setSearch] = useSearchParams();
  const [level, setLevel] = useState<string>("DEBUG");
  const [text, setText] = useState("");
  const revisionId = search.get("revision");
  const build = revisionId !== null && search.get("part") === "build";
  const revisions = useQuery(revisionsQuery(control, deploymentId));
  const { data, error } = useQuery(
    logQuery(control, { deploymentId, revisionId, build, level, text: useDeferredValue(text) }),
  );
  const choose = (revision: string, part: string): void =>
    setSearch(revision === "" ? {} : { revision, ...(part === "" ? {} : { part }) });
  return (
    <section className={styles.logs} aria-label="Logs">
      <div className={styles.choice}>
        <Field name="Revision">
          <select
            value={revisionId ?? ""}
            onChange={({ target }) => choose(target.value, search.get("part") ?? "")}
          >
            <option value="">all</option>
            {revisions.data?.map(({ id, status, created_at }) => (
              <option key={id} value={id}>
                {exactTime(created_at)}, {statusWords(status)}
              </option>
            ))}
          </select>
        </Field>
        {revisionId === null ? null : (
          <Field name="Part">
            <select
              value={build ? "build" : ""}
              onChange={({ target }) => choose(revisionId, target.value)}
            >
              <option value="">start and code</option>
              <option value="build">build</option>
            </select>
          </Field>
        )}
        <Field name="Level">
          <select value={level} onChange={({ target }) => setLevel(target.value)}>
            {LOG_LEVELS.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </Field>
        <Field name="Text">
          <input
            type="search"
            value={text}
            onChange={({ target }) => setText(target.value)}
            placeholder="in the message"
          />
        </Field>
      </div>
      {error === null ? null : <ErrorNotice error={error} />}
      <Lines lines={data ?? []} />
    </section>
  );
}

/** Follows new lines while the end is in sight, and stays in place while the user reads further up. */
function Lines({ lines }: { lines: readonly LogLine[] }): ReactNode {
  const list = useRef<HTMLOListElement>(null);
  const follows = useRef(true);
  useEffect(() => {
    const element = list.current;
    if (element !== null && follows.current) element.scrollTop = element.scrollHeight;
  }, [lines]);
  return (
    <ol
      ref={list}
      className={styles.lines}
      aria-label="Lines"
      tabIndex={0}
      onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
        follows.current = scrollHeight - scrollTop - clientHeight < NEAR_PX;
      }}
    >
      {lines.length === 0 ? (
        <li className={styles.none}>Nothing has been logged here yet.</li>
      ) : null}
      {lines.map(({ id, timestamp, level, message }) => (
        <li key={id} data-level={level}>
          <time dateTime={timestamp}>{timestamp.slice(11, 23)}</time>
          <span className={styles.level}>{level}</span>
          <span className={styles.message}>{message}</span>
        </li>
      ))}
    </ol>
  );
}
