import { type ReactNode, useState } from "react";
import { Button } from "../ui/button.tsx";
import { JsonView } from "../ui/json-view.tsx";
import { messagesOf, type ShownMessage } from "./messages-of.ts";
import styles from "./payload.module.css";

/** Shows an input or output: messages as a conversation, and everything as JSON on request. */
export function Payload({ value }: { value: unknown }): ReactNode {
  const messages = messagesOf(value);
  const [isRaw, setRaw] = useState(false);
  if (messages === null) {
    return value == null ? <p className={styles.none}>Nothing yet.</p> : <JsonView value={value} />;
  }
  return (
    <div className={styles.payload}>
      <Button kind="quiet" size="s" className={styles.raw ?? ""} onClick={() => setRaw(!isRaw)}>
        {isRaw ? "As messages" : "As JSON"}
      </Button>
      {isRaw ? (
        <JsonView value={value} />
      ) : (
        <ol className={styles.messages}>
          {messages.map((message) => (
            <Message key={message.id} message={message} />
          ))}
        </ol>
      )}
    </div>
  );
}

function Message({ message: { role, text, toolCalls } }: { message: ShownMessage }): ReactNode {
  return (
    <li className={styles.message}>
      <span className={styles.role}>{role}</span>
      <div className={styles.content}>
        {text === "" ? null : <p className={styles.text}>{text}</p>}
        {toolCalls.map(({ id, name, args }) => (
          <p key={id} className={styles.call}>
            <code>
              {name}({typeof args === "string" ? args : JSON.stringify(args)})
            </code>
          </p>
        ))}
      </div>
    </li>
  );
}
