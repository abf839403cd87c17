import { type ReactNode, useState } from "react";
import { Button } from "./button.tsx";
import styles from "./confirm-button.module.css";

type Props = {
  /** What it does, such as "Delete"; said again where it is confirmed. */
  name: string;
  question: string;
  disabled?: boolean;
  onConfirm: () => void;
};

/** For what cannot be undone: the first press asks, the second does it. */
export function ConfirmButton({ name, question, disabled = false, onConfirm }: Props): ReactNode {
  const [isAsking, setAsking] = useState(false);
  if (!isAsking) {
    return (
      <Button size="s" disabled={disabled} onClick={() => setAsking(true)}>
        {name}
      </Button>
    );
  }
  return (
    <span className={styles.question} role="group" aria-label={question}>
      <span role="status">{question}</span>
      <Button
        ref={focus}
        size="s"
        kind="danger"
        disabled={disabled}
        onKeyDown={({ key }) => {
          if (key === "Escape") setAsking(false);
        }}
        onClick={() => {
          setAsking(false);
          onConfirm();
        }}
      >
        {name}
      </Button>
      <Button size="s" kind="quiet" onClick={() => setAsking(false)}>
        Keep
      </Button>
    </span>
  );
}

/** The button that was pressed is gone: who works by keyboard goes on where it was. */
function focus(button: HTMLButtonElement | null): void {
  button?.focus();
}
