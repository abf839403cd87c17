import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { assistantsQuery, useAgents } from "../api/agents.ts";
import { CodeBlock } from "../ui/code-block.tsx";
import { EmptyState } from "../ui/empty-state.tsx";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { Page } from "../ui/page.tsx";
import { ago } from "../ui/time.ts";
import styles from "./agents-page.module.css";

export default function AgentsPage(): ReactNode {
  const { data, error, refetch } = useQuery(assistantsQuery(useAgents()));
  return (
    <Page title="Agents">
      {error === null ? null : <ErrorNotice error={error} retry={refetch} />}
      {data?.length === 0 ? (
        <EmptyState title="There is no agent yet">
          <p>A project names its graphs in langgraph.json. Serve one of your own:</p>
          <CodeBlock text="npm start -- --config ../my-project" />
        </EmptyState>
      ) : (
        <ul className={styles.list}>
          {data?.map((assistant) => (
            <li key={assistant.assistant_id} className={styles.row}>
              <Link href={`/agents/${assistant.assistant_id}`} className={styles.name}>
                {assistant.name}
              </Link>
              <p className={styles.description}>
                {assistant.description ?? `Runs the graph ${assistant.graph_id}.`}
              </p>
              <p className={styles.facts}>
                <code>{assistant.graph_id}</code>
                <Link href={`/agents/${assistant.assistant_id}/versions`}>
                  version {assistant.version}
                </Link>
                <span>{ago(assistant.updated_at)}</span>
              </p>
              <Link
                href={`/agents/${assistant.assistant_id}`}
                className={styles.chat}
                aria-label={`Chat with ${assistant.name}`}
              >
                Chat
              </Link>
            </li>
          ))}
        </ul>
      )}
    </Page>
  );
}
