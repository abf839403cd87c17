import { type FormEvent, type KeyboardEvent, type ReactNode, useState } from "react";
import { Button } from "../../ui/button.tsx";
import { ErrorNotice } from "../../ui/error-notice.tsx";
import type { Snapshot, State } from "./chat-state.ts";
import styles from "./composer.module.css";
import { useInputKind } from "./use-input-kind.ts";

type Props = {
  assistantId: string;
  isBusy: boolean;
  /** A thread is being created, so a message that is sent now would not reach it. */
  isWaiting: boolean;
  fork: Snapshot | null;
  onFork: (state: Snapshot | null) => void;
  onSend: (input: Partial<State>, shown: string) => void;
  onStop: () => void;
};

/** Sends the next input: a message or, for graphs without messages, their input as JSON. */
export function Composer({
  assistantId,
  isBusy,
  isWaiting,
  fork,
  onFork,
  onSend,
  onStop,
}: Props): ReactNode {
  const [text, setText] = useState("");
  const [error, setError] = useState<unknown>(null);
  const kind = useInputKind(assistantId);

  function send(event?: FormEvent): void {
    event?.preventDefault();
    if (isWaiting || text.trim() === "") return;
    try {
      const input: Partial<State> =
        kind === "messages"
          ? { messages: [{ id: crypto.randomUUID(), type: "human", content: text }] }
          : (JSON.parse(text) as State);
      onSend(input, text);
      setText("");
      setError(null);
    } catch (problem) {
      setError(problem);
    }
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    send();
  }

  return (
    <form className={styles.composer} onSubmit={send}>
      {error === null ? null : <ErrorNotice error={error} />}
      {fork === null ? null : (
        <p className={styles.fork}>
          <span>
            The next message goes on from step {fork.metadata?.step ?? "?"}, as another branch.
          </span>
          <Button kind="quiet" size="s" onClick={() => onFork(null)}>
            Continue from the end
          </Button>
        </p>
      )}
      <div className={styles.box}>
        <textarea
          rows={2}
          aria-label={kind === "messages" ? "Message" : "Input as JSON"}
          placeholder={kind === "messages" ? "Write a message" : '{ "input": "of the graph" }'}
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={onKeyDown}
        />
        <div className={styles.actions}>
          {isBusy ? (
            <Button size="s" onClick={onStop}>
              Stop
            </Button>
          ) : null}
          <Button type="submit" kind="primary" size="s" disabled={isWaiting || text.trim() === ""}>
            {isBusy ? "Queue" : "Send"}
          </Button>
        </div>
      </div>
    </form>
  );
}
