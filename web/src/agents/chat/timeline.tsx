import type { ReactNode } from "react";
import { Button } from "../../ui/button.tsx";
import { exactTime } from "../../ui/time.ts";
import type { Snapshot } from "./chat-state.ts";
import styles from "./timeline.module.css";

type Props = {
  history: readonly Snapshot[];
  fork: Snapshot | null;
  onFork: (state: Snapshot | null) => void;
};

/** Lists the checkpoints of the thread, the newest first; the conversation can continue from any of them. */
export function Timeline({ history, fork, onFork }: Props): ReactNode {
  if (history.length === 0) {
    return <p className={styles.none}>Each step of the graph leaves a checkpoint, listed here.</p>;
  }
  return (
    <ol className={styles.line}>
      {history.toReversed().map((state) => {
        const id = state.checkpoint?.checkpoint_id;
        const isChosen = fork !== null && fork.checkpoint?.checkpoint_id === id;
        return (
          <li key={id} className={isChosen ? styles.chosen : styles.step}>
            <div>
              <p>
                <strong>Step {state.metadata?.step ?? "?"}</strong> {afterText(state)}
              </p>
              <p className={styles.time}>
                {state.created_at == null ? "" : exactTime(state.created_at)}
              </p>
            </div>
            <Button size="s" kind="quiet" onClick={() => onFork(isChosen ? null : state)}>
              {isChosen ? "Leave" : "Fork"}
            </Button>
          </li>
        );
      })}
    </ol>
  );
}

function afterText({ next, metadata }: Snapshot): string {
  const source = metadata?.source === "input" ? "input" : "";
  if (next.length === 0) return `${source} end`;
  return `${source} next: ${next.join(", ")}`;
}
