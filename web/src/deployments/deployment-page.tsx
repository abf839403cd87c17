import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link, useLocation } from "wouter";
import { type Deployment, deploymentQuery, pathOf } from "../api/deployments.ts";
import { useControlPlane } from "../api/tracing.ts";
import { ConfirmButton } from "../ui/confirm-button.tsx";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { Page, PageFacts } from "../ui/page.tsx";
import { Status } from "../ui/status.tsx";
import { ViewLinks } from "../ui/view-links.tsx";
import { DeploymentLogs } from "./deployment-logs.tsx";
import { DeploymentSecrets } from "./deployment-secrets.tsx";
import { DeploymentUsage } from "./deployment-usage.tsx";
import styles from "./deployment-page.module.css";
import { Revisions } from "./revisions.tsx";
import { stateWords } from "./status-words.ts";

function originOf({ source_config: { template_id, repo_url } }: Deployment): string {
  if (template_id !== null) return `template ${template_id}`;
  return repo_url ?? "a project of its own";
}

type Props = { deploymentId: string; view: string };

const FOLLOW_MS = 1_500;

/** Shows one deployment; each of its views has an address of its own. */
export default function DeploymentPage({ deploymentId, view }: Props): ReactNode {
  const control = useControlPlane();
  const queries = useQueryClient();
  const [, go] = useLocation();
  const { data, error } = useQuery({
    ...deploymentQuery(control, deploymentId),
    refetchInterval: FOLLOW_MS,
  });
  const remove = useMutation({
    mutationFn: () => control(pathOf(deploymentId), { method: "DELETE" }),
    onSuccess: async () => {
      go("/deployments");
      await queries.invalidateQueries({ queryKey: ["deployments"] });
    },
  });
  const problem = error ?? remove.error;
  const base = `/deployments/${deploymentId}`;
  return (
    <Page
      title={data === undefined ? "Deployment" : (data.display_name ?? data.name)}
      trail={<Link href="/deployments">Deployments</Link>}
      actions={
        data === undefined ? null : (
          <ConfirmButton
            name="Delete"
            question="Its threads, store, logs and secrets go, too."
            disabled={remove.isPending || data.status === "AWAITING_DELETE"}
            onConfirm={() => remove.mutate()}
          />
        )
      }
    >
      {problem === null ? null : <ErrorNotice error={problem} />}
      {data === undefined ? null : (
        <>
          <PageFacts>
            <Status status={stateWords(data)} />
            <a className={styles.url} href={`${data.source_config.custom_url}/docs`}>
              {data.source_config.custom_url}
            </a>
            <span>{originOf(data)}</span>
          </PageFacts>
          <ViewLinks
            label="Views of the deployment"
            views={[
              { name: "Revisions", href: base, isHere: view === "revisions" },
              { name: "Logs", href: `${base}/logs`, isHere: view === "logs" },
              { name: "Secrets", href: `${base}/secrets`, isHere: view === "secrets" },
              { name: "Usage", href: `${base}/usage`, isHere: view === "usage" },
            ]}
          />
          {view === "revisions" ? <Revisions deployment={data} /> : null}
          {view === "logs" ? <DeploymentLogs deploymentId={deploymentId} /> : null}
          {view === "secrets" ? (
            <DeploymentSecrets key={data.latest_revision_id} deployment={data} />
          ) : null}
          {view === "usage" ? <DeploymentUsage deploymentId={deploymentId} /> : null}
        </>
      )}
    </Page>
  );
}
