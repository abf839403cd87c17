import { useQuery } from "@tanstack/react-query";
import type { Message, Thread } from "@langchain/langgraph-sdk";
import { type ReactNode, useEffect, useState } from "react";
import { Link } from "wouter";
import { useAgents } from "../../api/agents.ts";
import { Status } from "../../ui/status.tsx";
import { ago } from "../../ui/time.ts";
import { type State, textOf } from "./chat-state.ts";
import styles from "./thread-list.module.css";

const MOST_THREADS = 50;
const BUSY_POLL_MS = 2_000;

type Props = { assistantId: string; threadId: string | null; isLoading: boolean };

/** Lists the threads of this assistant. */
export function ThreadList({ assistantId, threadId, isLoading }: Props): ReactNode {
  const agents = useAgents();
  const [text, setText] = useState("");
  const { data, refetch } = useQuery({
    queryKey: ["threads", assistantId],
    queryFn: () =>
      agents.threads.search<State>({
        metadata: { assistant_id: assistantId },
        limit: MOST_THREADS,
        sortBy: "updated_at",
        sortOrder: "desc",
      }),
    refetchInterval: ({ state }) =>
      state.data?.some(({ status }) => status === "busy") ? BUSY_POLL_MS : false,
  });
  useEffect(() => void refetch(), [isLoading, refetch]);
  const shown = data?.filter((thread) =>
    titleOf(thread).toLowerCase().includes(text.toLowerCase()),
  );
  return (
    <nav className={styles.threads} aria-label="Threads">
      <div className={styles.head}>
        <input
          type="search"
          aria-label="Search threads"
          placeholder="Search threads"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <Link href={`/agents/${assistantId}`} className={styles.new}>
          New
        </Link>
      </div>
      <ul className={styles.list}>
        {shown?.map((thread) => (
          <li key={thread.thread_id}>
            <Link
              href={`/agents/${assistantId}/${thread.thread_id}`}
              className={styles.thread}
              aria-current={thread.thread_id === threadId ? "page" : undefined}
            >
              <span className={styles.name}>{titleOf(thread)}</span>
              <span className={styles.facts}>
                <Status status={thread.status} />
                <span>{ago(thread.updated_at)}</span>
              </span>
            </Link>
          </li>
        ))}
      </ul>
      {data?.length === 0 ? (
        <p className={styles.none}>Threads are listed here as soon as there is one.</p>
      ) : null}
    </nav>
  );
}

function titleOf({ thread_id, values }: Thread<State>): string {
  const first = (values as State | null)?.messages?.find(({ type }: Message) => type === "human");
  return first === undefined ? thread_id.slice(0, 8) : textOf(first.content);
}
