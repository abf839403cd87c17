import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { Link } from "wouter";
import { assistantQuery, useAgents } from "../../api/agents.ts";
import { Button } from "../../ui/button.tsx";
import { ErrorNotice } from "../../ui/error-notice.tsx";
import { Page } from "../../ui/page.tsx";
import { ago } from "../../ui/time.ts";
import styles from "./assistant-page.module.css";
import { VersionDiff } from "./version-diff.tsx";
import { VersionForm } from "./version-form.tsx";

/** Shows an assistant's versions, the differences between them, and which of them is active. */
export default function AssistantPage({ assistantId }: { assistantId: string }): ReactNode {
  const agents = useAgents();
  const queries = useQueryClient();
  const [compared, setCompared] = useState<number | null>(null);
  const assistant = useQuery(assistantQuery(agents, assistantId));
  const versions = useQuery({
    queryKey: ["assistants", assistantId, "versions"],
    queryFn: () => agents.assistants.getVersions(assistantId, { limit: 100 }),
  });
  const activate = useMutation({
    mutationFn: (version: number) => agents.assistants.setLatest(assistantId, version),
    onSettled: () => queries.invalidateQueries({ queryKey: ["assistants"] }),
  });
  const active = versions.data?.find(({ version }) => version === assistant.data?.version);
  const other = versions.data?.find(({ version }) => version === compared);
  const error = assistant.error ?? versions.error ?? activate.error;

  return (
    <Page
      title={assistant.data?.name ?? "\u00a0"}
      trail={<Link href="/agents">Agents</Link>}
      actions={
        <Link className={styles.chat} href={`/agents/${assistantId}`}>
          Chat
        </Link>
      }
    >
      {error === null ? null : <ErrorNotice error={error} />}
      <div className={styles.columns}>
        <section aria-labelledby="versions">
          <h2 id="versions">Versions</h2>
          <ol className={styles.versions}>
            {versions.data?.map(({ version, name, created_at }) => (
              <li key={version}>
                <span className={styles.number}>{version}</span>
                <span className={styles.name}>
                  {name} <span className={styles.time}>{ago(created_at)}</span>
                </span>
                {version === active?.version ? (
                  <span className={styles.active}>answers</span>
                ) : (
                  <>
                    <Button
                      kind="quiet"
                      size="s"
                      aria-pressed={version === compared}
                      onClick={() => setCompared(version === compared ? null : version)}
                    >
                      Compare
                    </Button>
                    <Button size="s" onClick={() => activate.mutate(version)}>
                      Set active
                    </Button>
                  </>
                )}
              </li>
            ))}
          </ol>
          {other === undefined || active === undefined ? null : (
            <VersionDiff before={other} after={active} />
          )}
        </section>
        <section aria-labelledby="edit">
          <h2 id="edit">A new version</h2>
          {assistant.data === undefined ? null : (
            <VersionForm key={assistant.data.version} assistant={assistant.data} />
          )}
        </section>
      </div>
    </Page>
  );
}
