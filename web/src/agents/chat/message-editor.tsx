import { type ReactNode, useState } from "react";
import { Button } from "../../ui/button.tsx";
import styles from "./message-editor.module.css";

type Props = { text: string; onSend: (text: string) => void; onCancel: () => void };

/** Edits a message. Sending it creates a branch of the conversation before the message. */
export function MessageEditor({ text, onSend, onCancel }: Props): ReactNode {
  const [edited, setEdited] = useState(text);
  return (
    <form
      className={styles.editor}
      onSubmit={(event) => {
        event.preventDefault();
        onSend(edited);
      }}
    >
      <textarea
        aria-label="Edited text"
        rows={3}
        value={edited}
        onChange={(event) => setEdited(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") onCancel();
        }}
      />
      <div className={styles.actions}>
        <Button type="submit" kind="primary" size="s" disabled={edited.trim() === ""}>
          Send as another branch
        </Button>
        <Button size="s" onClick={onCancel}>
          Cancel
        </Button>
      </div>
    </form>
  );
}
