import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { Link } from "wouter";
import {
  type Deployment,
  deployTarball,
  hasServed,
  isRolledOut,
  pathOf,
  type Revision,
  revisionsQuery,
} from "../api/deployments.ts";
import { useControlPlane } from "../api/tracing.ts";
import { Button } from "../ui/button.tsx";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { Form } from "../ui/form.tsx";
import { Status } from "../ui/status.tsx";
import { ago, exactTime } from "../ui/time.ts";
import { Pushes } from "./pushes.tsx";
import styles from "./revisions.module.css";
import { statusWords } from "./status-words.ts";
import { TarballField } from "./tarball-field.tsx";

/** Length of a shortened commit hash, as in Git's own output. */
const SHORT_SHA_CHARS = 7;

/** Lists the former, current and upcoming revisions of a deployment, and creates the next one. */
export function Revisions({ deployment }: { deployment: Deployment }): ReactNode {
  const control = useControlPlane();
  const queries = useQueryClient();
  const [tarball, setTarball] = useState<File | null>(null);
  const { data, error } = useQuery(revisionsQuery(control, deployment.id));
  const path = pathOf(deployment.id);
  const refresh = (): Promise<void> => queries.invalidateQueries({ queryKey: ["deployments"] });
  const act = useMutation({
    mutationFn: ({ id, what }: { id: string; what: "redeploy" | "interrupt" }) =>
      control(`${path}/revisions/${id}/${what}`, { method: "POST", body: {} }),
    onSettled: refresh,
  });
  const deploy = useMutation<void, Error, FormData>({
    mutationFn: () => {
      if (tarball === null) throw new Error("Choose a tarball first");
      return deployTarball(control, deployment.id, tarball);
    },
    onSuccess: () => {
      setTarball(null);
      return refresh();
    },
  });
  const problem = error ?? act.error;
  const active = data?.findIndex(({ id }) => id === deployment.active_revision_id) ?? -1;
  return (
    <div className={styles.columns}>
      <section aria-labelledby="revisions">
        <h2 id="revisions">Revisions</h2>
        {problem === null ? null : <ErrorNotice error={problem} />}
        <ol className={styles.list}>
          {data?.map((revision, index) => (
            <li key={revision.id}>
              <Status
                status={
                  revision.id === deployment.active_revision_id
                    ? "serves"
                    : statusWords(revision.status)
                }
              />
              <span title={exactTime(revision.created_at)}>{ago(revision.created_at)}</span>
              <span className={styles.source}>
                <RevisionSource revision={revision} deployment={deployment} />
              </span>
              <span className={styles.actions}>
                <Link
                  className={styles.logs}
                  href={`/deployments/${deployment.id}/logs?revision=${revision.id}`}
                >
                  Logs
                </Link>
                {isRolledOut(revision) ? (
                  <Button
                    size="s"
                    disabled={act.isPending}
                    onClick={() => act.mutate({ id: revision.id, what: "redeploy" })}
                  >
                    {active !== -1 && index > active && hasServed(revision)
                      ? "Roll back"
                      : "Deploy again"}
                  </Button>
                ) : (
                  <Button
                    size="s"
                    disabled={act.isPending}
                    onClick={() => act.mutate({ id: revision.id, what: "interrupt" })}
                  >
                    Interrupt
                  </Button>
                )}
              </span>
              {revision.status_message === null ? null : (
                <p className={styles.message}>{revision.status_message}</p>
              )}
            </li>
          ))}
        </ol>
      </section>
      <section aria-labelledby="next">
        <h2 id="next">The next revision</h2>
        <Form sending={deploy} submit="Deploy the tarball" busy="Uploading">
          <TarballField file={tarball} onFile={setTarball} />
        </Form>
        {deployment.source_config.repo_url === null ? null : <Pushes deployment={deployment} />}
      </section>
    </div>
  );
}

type SourceProps = { revision: Revision; deployment: Deployment };

function RevisionSource({ revision, deployment }: SourceProps): ReactNode {
  const { template_id, repo_url } = deployment.source_config;
  if (revision.source === "internal_template") return `template ${template_id}`;
  if (revision.source === "github") {
    const { repo_ref, repo_commit_sha: sha } = revision.source_revision_config;
    const ref = repo_ref ?? "the default branch";
    if (sha === null) return ref;
    return (
      <>
        {ref} at{" "}
        <a className={styles.logs} href={`${repo_url}/commit/${sha}`} title={sha}>
          <code>{sha.slice(0, SHORT_SHA_CHARS)}</code>
        </a>
      </>
    );
  }
  const path = revision.source_revision_config.source_tarball_path;
  return path === null ? "waits for a tarball" : `tarball ${path.split("/").at(-1)}`;
}
