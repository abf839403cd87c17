import { type ReactNode, useState } from "react";
import { Button } from "./button.tsx";
import styles from "./confirm-button.module.css";

type Props = {
  /** The action, such as "Delete"; repeated in the confirmation. */
  name: string;
  question: string;
  disabled?: boolean;
  onConfirm: () => void;
};

/** A button for actions that cannot be undone: the first click asks, and the second confirms. */
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

/** The pressed button has been removed, so keyboard focus moves to its replacement. */
function focus(button: HTMLButtonElement | null): void {
  button?.focus();
}
