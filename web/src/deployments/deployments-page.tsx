import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { deploymentsQuery } from "../api/deployments.ts";
import { useControlPlane, useTracing } from "../api/tracing.ts";
import { workspaceQuery } from "../api/workspace.ts";
import { ButtonLink } from "../ui/button.tsx";
import { CodeBlock } from "../ui/code-block.tsx";
import { EmptyState } from "../ui/empty-state.tsx";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { Page } from "../ui/page.tsx";
import { Status } from "../ui/status.tsx";
import { ago } from "../ui/time.ts";
import styles from "./deployments-page.module.css";
import { stateWords } from "./status-words.ts";

export default function DeploymentsPage(): ReactNode {
  const { data, error, refetch } = useQuery(deploymentsQuery(useControlPlane()));
  const workspace = useQuery(workspaceQuery(useTracing()));
  return (
    <Page
      title="Deployments"
      actions={<ButtonLink href="/deployments/new">New deployment</ButtonLink>}
    >
      {error === null ? null : <ErrorNotice error={error} retry={refetch} />}
      {data?.length === 0 ? (
        <EmptyState title="Nothing is deployed yet">
          <p>
            A deployment runs a project on this platform, at a URL of its own.{" "}
            <Link href="/deployments/new">Make one of a template</Link>, or deploy a project from
            its folder:
          </p>
          <CodeBlock text={`npx threadworks deploy --host-url ${location.origin}`} />
        </EmptyState>
      ) : (
        <ul className={styles.list}>
          {data?.map((deployment) => (
            <li key={deployment.id} className={styles.row}>
              <Link href={`/deployments/${deployment.id}`} className={styles.name}>
                {deployment.display_name ?? deployment.name}
              </Link>
              <span className={styles.url}>{deployment.source_config.custom_url}</span>
              <Status status={stateWords(deployment)} />
              <span className={styles.time}>{ago(deployment.updated_at)}</span>
            </li>
          ))}
        </ul>
      )}
      {workspace.data === undefined ? null : (
        <p className={styles.plan}>
          {workspace.data.deployments.count} of {workspace.data.deployments.limit} deployments of
          the plan {workspace.data.plan}. <Link href="/workspace">Plan, limits and API keys</Link>,{" "}
          <Link href="/workspace/services">connected services</Link>.
        </p>
      )}
    </Page>
  );
}
