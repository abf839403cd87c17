import type { ReactNode } from "react";
import { Button } from "../ui/button.tsx";
import { ErrorNotice } from "../ui/error-notice.tsx";
import styles from "./rating.module.css";
import { useRating } from "./use-rating.ts";

/** Shows thumbs up and down; pressing the same one again removes the rating. */
export function Rating({ runId }: { runId: string }): ReactNode {
  const { score, error, rate } = useRating(runId);
  return (
    <span className={styles.rating} role="group" aria-label="Rate the answer">
      <Thumb name="Good" isPressed={score === 1} onPress={() => rate(1)} />
      <Thumb name="Bad" isPressed={score === 0} onPress={() => rate(0)} />
      {error === null ? null : <ErrorNotice error={error} />}
    </span>
  );
}

type ThumbProps = { name: "Good" | "Bad"; isPressed: boolean; onPress: () => void };

function Thumb({ name, isPressed, onPress }: ThumbProps): ReactNode {
  return (
    <Button kind="quiet" size="s" aria-label={name} aria-pressed={isPressed} onClick={onPress}>
      <svg
        className={[
          styles.thumb,
          name === "Bad" ? styles.down : "",
          isPressed ? styles.chosen : "",
        ].join(" ")}
        viewBox="0 0 16 16"
        aria-hidden="true"
      >
        <path d="M5 7 8 1.5c1.2 0 1.9.9 1.7 2L9.2 6H13c.9 0 1.5.8 1.3 1.6l-1.2 5.2c-.2.7-.8 1.2-1.5 1.2H5zM5 7H2v7h3" />
      </svg>
    </Button>
  );
}
