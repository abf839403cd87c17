import type { Message } from "@langchain/langgraph-sdk";
import { type ReactNode, useState } from "react";
import { Link } from "wouter";
import { Rating } from "../../feedback/rating.tsx";
import { Button } from "../../ui/button.tsx";
import { BranchSwitch } from "./branch-switch.tsx";
import { runOf, textOf } from "./chat-state.ts";
import { MessageEditor } from "./message-editor.tsx";
import styles from "./message-row.module.css";
import { ToolCall } from "./tool-call.tsx";
import { toolCallsOf } from "./tool-calls.ts";
import type { Chat } from "./use-chat.ts";

type Props = { message: Message; chat: Chat; isLast: boolean };

export function MessageRow({ message, chat, isLast }: Props): ReactNode {
  const { stream } = chat;
  const [isEditing, setEditing] = useState(false);
  const metadata = stream.getMessagesMetadata(message);
  const text = textOf(message.content);
  const isHuman = message.type === "human";
  const parent = metadata?.firstSeenState?.parent_checkpoint;
  const runId = runOf(metadata?.firstSeenState);
  const isSettled = !(isLast && stream.isLoading);

  if (isEditing) {
    return (
      <MessageEditor
        text={text}
        onCancel={() => setEditing(false)}
        onSend={(edited) => {
          setEditing(false);
          const messages: Message[] = [{ type: "human", content: edited }];
          void chat.send({ messages }, edited, parent ?? undefined);
        }}
      />
    );
  }
  return (
    <article
      className={isHuman ? styles.human : styles.agent}
      aria-label={isHuman ? "You" : message.type}
    >
      {text === "" ? null : <p className={styles.text}>{text}</p>}
      {toolCallsOf(message, stream.messages).map((call) => (
        <ToolCall key={call.id} call={call} />
      ))}
      {isHuman ? (
        <footer className={styles.actions}>
          <BranchSwitch
            branch={metadata?.branch}
            options={metadata?.branchOptions}
            onChange={stream.setBranch}
          />
          {parent != null && !stream.isLoading ? (
            <Button kind="quiet" size="s" onClick={() => setEditing(true)}>
              Edit
            </Button>
          ) : null}
        </footer>
      ) : null}
      {message.type === "ai" && text !== "" && runId !== undefined && isSettled ? (
        <footer className={styles.actions}>
          <Rating runId={runId} />
          <Link href={`/runs/${runId}`} className={styles.trace}>
            Trace
          </Link>
        </footer>
      ) : null}
    </article>
  );
}
