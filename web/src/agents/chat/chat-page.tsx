import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { useLocation } from "wouter";
import { assistantQuery, useAgents } from "../../api/agents.ts";
import { Button } from "../../ui/button.tsx";
import { ErrorNotice } from "../../ui/error-notice.tsx";
import { usePageTitle } from "../../ui/use-page-title.ts";
import styles from "./chat-page.module.css";
import type { Snapshot } from "./chat-state.ts";
import { Composer } from "./composer.tsx";
import { Conversation } from "./conversation.tsx";
import { InterruptForm } from "./interrupt-form.tsx";
import { QueueList } from "./queue-list.tsx";
import { SidePanel } from "./side-panel.tsx";
import { ThreadList } from "./thread-list.tsx";
import { useChat } from "./use-chat.ts";

type Props = { assistantId: string; threadId: string | null };

export default function ChatPage({ assistantId, threadId }: Props): ReactNode {
  const agents = useAgents();
  const queries = useQueryClient();
  const [, go] = useLocation();
  const [fork, setFork] = useState<Snapshot | null>(null);
  const [showsPanel, setShowsPanel] = useState(false);
  const assistant = useQuery(assistantQuery(agents, assistantId));
  const onThreadId = (id: string): void => {
    go(`/agents/${assistantId}/${id}`, { replace: true });
    void queries.invalidateQueries({ queryKey: ["threads"] });
  };
  const chat = useChat({ agents, assistantId, threadId, onThreadId });
  const { stream } = chat;
  usePageTitle(assistant.data?.name ?? "Chat");

  if (assistant.isError) return <ErrorNotice error={assistant.error} retry={assistant.refetch} />;
  const checkpoint = fork?.checkpoint;
  return (
    <div className={styles.page}>
      <ThreadList assistantId={assistantId} threadId={threadId} isLoading={stream.isLoading} />
      <section className={styles.chat} aria-label="Conversation">
        <header className={styles.title}>
          <h1>{assistant.data?.name ?? "\u00a0"}</h1>
          <Button
            kind="quiet"
            size="s"
            className={styles.toggle ?? ""}
            aria-expanded={showsPanel}
            onClick={() => setShowsPanel(!showsPanel)}
          >
            {showsPanel ? "Back to the chat" : "Graph and state"}
          </Button>
        </header>
        <Conversation chat={chat} assistant={assistant.data} />
        <div className={styles.foot}>
          {chat.error === null ? null : <ErrorNotice error={chat.error} />}
          {chat.queue.isLost ? (
            <p className={styles.lost} role="status">
              The server does not respond. This page continues as soon as it does.
            </p>
          ) : null}
          {stream.interrupt !== undefined && !stream.isLoading ? (
            <InterruptForm
              key={stream.interrupt.id ?? "interrupt"}
              value={stream.interrupt.value}
              onAnswer={(resume) => void chat.resume({ resume })}
            />
          ) : null}
          <QueueList queued={chat.queue.queued} onCancel={(id) => void chat.queue.cancel(id)} />
          <Composer
            assistantId={assistantId}
            isBusy={stream.isLoading}
            isWaiting={stream.isLoading && threadId === null}
            fork={fork}
            onFork={setFork}
            onStop={() => void chat.stop()}
            onSend={(input, shown) => {
              setFork(null);
              void chat.send(input, shown, checkpoint ?? undefined);
            }}
          />
        </div>
      </section>
      <div className={showsPanel ? styles.shownPanel : styles.panel}>
        <SidePanel chat={chat} assistantId={assistantId} fork={fork} onFork={setFork} />
      </div>
    </div>
  );
}
