import type { ReactNode } from "react";
import { Button } from "../../ui/button.tsx";
import styles from "./queue-list.module.css";
import type { QueuedRun } from "./use-queued-runs.ts";

type Props = { queued: readonly QueuedRun[]; onCancel: (id: string) => void };

/** Lists the messages that were sent during a run and are queued on the server. */
export function QueueList({ queued, onCancel }: Props): ReactNode {
  if (queued.length === 0) return null;
  return (
    <ol className={styles.queue} aria-label="Queued messages">
      {queued.map(({ id, text }) => (
        <li key={id}>
          <span className={styles.label}>Queued</span>
          <span className={styles.text}>{text}</span>
          <Button kind="quiet" size="s" onClick={() => onCancel(id)}>
            Remove
          </Button>
        </li>
      ))}
    </ol>
  );
}
