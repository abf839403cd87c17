import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { feedbackQuery } from "../api/runs.ts";
import { useTracing } from "../api/tracing.ts";
import { Rating } from "../feedback/rating.tsx";
import styles from "./run-feedback.module.css";

/** Shows the feedback of people and programs on a run, and the rating buttons. */
export function RunFeedback({ runId }: { runId: string }): ReactNode {
  const { data } = useQuery(feedbackQuery(useTracing(), runId));
  return (
    <section className={styles.feedback} aria-label="Feedback">
      <Rating runId={runId} />
      <ul className={styles.list}>
        {data?.map(({ id, key, score, value, comment }) => (
          <li key={id}>
            <span className={styles.key}>{key}</span>{" "}
            {score ?? (typeof value === "string" ? value : JSON.stringify(value))}
            {comment === null ? null : <span className={styles.comment}>{comment}</span>}
          </li>
        ))}
      </ul>
    </section>
  );
}
