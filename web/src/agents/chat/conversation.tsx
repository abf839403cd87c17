import type { Assistant } from "@langchain/langgraph-sdk";
import { type ReactNode, useEffect, useRef } from "react";
import { EmptyState } from "../../ui/empty-state.tsx";
import styles from "./conversation.module.css";
import { MessageRow } from "./message-row.tsx";
import type { Chat } from "./use-chat.ts";

/** Within this distance of the end, in pixels, the view follows new messages. */
const NEAR_END_PX = 80;

type Props = { chat: Chat; assistant: Assistant | undefined };

export function Conversation({ chat, assistant }: Props): ReactNode {
  const { stream } = chat;
  const list = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  const { messages } = stream;
  useEffect(() => {
    const element = list.current;
    if (element !== null && follows.current) element.scrollTop = element.scrollHeight;
  }, [messages]);

  const shown = messages.filter(({ type }) => type !== "tool" && type !== "remove");
  return (
    <div
      ref={list}
      className={styles.scroll}
      onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
        follows.current = scrollHeight - scrollTop - clientHeight < NEAR_END_PX;
      }}
      role="log"
      aria-label="Messages"
      aria-live="polite"
      aria-busy={stream.isLoading}
      tabIndex={0}
    >
      <div className={styles.column}>
        {shown.length === 0 && !stream.isThreadLoading ? (
          <EmptyState title={`Say something to ${assistant?.name ?? "the agent"}`}>
            <p>
              {assistant?.description ?? "What it answers appears here, with every tool it calls."}
            </p>
          </EmptyState>
        ) : null}
        {shown.map((message, index) => (
          <MessageRow
            key={message.id ?? index}
            message={message}
            chat={chat}
            isLast={index === shown.length - 1}
          />
        ))}
        <p className={styles.working} aria-hidden={!stream.isLoading}>
          {stream.isLoading ? `Working${activeText(chat.active)}` : ""}
        </p>
      </div>
    </div>
  );
}

function activeText(active: ReadonlySet<string>): string {
  return active.size === 0 ? "" : ` in ${[...active].join(", ")}`;
}
