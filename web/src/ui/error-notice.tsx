import type { ReactNode } from "react";
import { Button } from "./button.tsx";
import styles from "./error-notice.module.css";

type Props = { error: unknown; retry?: () => unknown };

/** Shows an error, with the server's own message. */
export function ErrorNotice({ error, retry }: Props): ReactNode {
  return (
    <div className={styles.notice} role="alert">
      <p>{error instanceof Error ? error.message : String(error)}</p>
      {retry === undefined ? null : (
        <Button size="s" onClick={() => void retry()}>
          Try again
        </Button>
      )}
    </div>
  );
}
