import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { type Deployment, deploymentQuery, pathOf, previewsQuery } from "../api/deployments.ts";
import { useControlPlane } from "../api/tracing.ts";
import { CodeBlock } from "../ui/code-block.tsx";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { Status } from "../ui/status.tsx";
import styles from "./pushes.module.css";
import { stateWords } from "./status-words.ts";

type Switch = "build_on_push" | "previews";

/** Shows what pushes to the repository do; for a preview, shows what it is a preview of. */
export function Pushes({ deployment }: { deployment: Deployment }): ReactNode {
  const { preview_of: of, preview_branch: branch } = deployment.source_config;
  return (
    <section className={styles.pushes} aria-labelledby="pushes">
      <h2 id="pushes">Pushes</h2>
      {of === null ? (
        <Switches deployment={deployment} />
      ) : (
        <p>
          This is the preview of the branch <code>{branch}</code>, and is removed with it.{" "}
          <Link href={`/deployments/${of}`}>The deployment that it previews</Link>
        </p>
      )}
    </section>
  );
}

function Switches({ deployment }: { deployment: Deployment }): ReactNode {
  const control = useControlPlane();
  const queries = useQueryClient();
  const { build_on_push, previews, webhook_url: webhook } = deployment.source_config;
  const branch = deployment.source_revision_config.repo_ref ?? "the default branch";
  const change = useMutation({
    mutationFn: (config: Partial<Record<Switch, boolean>>) =>
      control<Deployment>(pathOf(deployment.id), {
        method: "PATCH",
        body: { source_config: config },
      }),
    onSuccess: (changed) => {
      queries.setQueryData(deploymentQuery(control, deployment.id).queryKey, changed);
    },
  });
  return (
    <>
      <label className={styles.switch}>
        <input
          type="checkbox"
          checked={build_on_push === true}
          disabled={change.isPending}
          onChange={({ target }) => change.mutate({ build_on_push: target.checked })}
        />
        Pushes to {branch} make revisions
      </label>
      <label className={styles.switch}>
        <input
          type="checkbox"
          checked={previews === true}
          disabled={change.isPending}
          onChange={({ target }) => change.mutate({ previews: target.checked })}
        />
        Pushes to other branches make previews
      </label>
      {change.error === null ? null : <ErrorNotice error={change.error} />}
      {webhook === null ? null : (
        <>
          <p>The payload URL of the webhook in the repository&apos;s settings:</p>
          <CodeBlock text={webhook} />
        </>
      )}
      <Previews deploymentId={deployment.id} />
    </>
  );
}

function Previews({ deploymentId }: { deploymentId: string }): ReactNode {
  const { data, error } = useQuery(previewsQuery(useControlPlane(), deploymentId));
  if (error !== null) return <ErrorNotice error={error} />;
  if (data === undefined || data.length === 0) return null;
  return (
    <ul className={styles.previews} aria-label="Previews">
      {data.map((preview) => (
        <li key={preview.id}>
          <Link href={`/deployments/${preview.id}`}>{preview.source_config.preview_branch}</Link>
          <Status status={stateWords(preview)} />
        </li>
      ))}
    </ul>
  );
}
