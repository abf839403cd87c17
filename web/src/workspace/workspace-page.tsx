import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useTracing } from "../api/tracing.ts";
import { type Workspace, workspaceQuery } from "../api/workspace.ts";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { Page } from "../ui/page.tsx";
import tableStyles from "../ui/table.module.css";
import { ApiKeys } from "./api-keys.tsx";
import { Services } from "./services.tsx";
import { ViewLinks } from "../ui/view-links.tsx";
import { Facts } from "../ui/facts.tsx";
import styles from "./workspace-page.module.css";

/** Shows the workspace of the key: its plan and limits, its keys, and the services that its users can connect. */
export default function WorkspacePage({ view }: { view: string }): ReactNode {
  const { data, error, refetch } = useQuery(workspaceQuery(useTracing()));
  return (
    <Page title={data === undefined ? "Workspace" : `Workspace ${data.display_name}`}>
      {error === null ? null : <ErrorNotice error={error} retry={refetch} />}
      <ViewLinks
        label="Views of the workspace"
        views={[
          { name: "Plan and limits", href: "/workspace", isHere: view === "plan" },
          { name: "API keys", href: "/workspace/keys", isHere: view === "keys" },
          { name: "Connected services", href: "/workspace/services", isHere: view === "services" },
        ]}
      />
      {view === "plan" && data !== undefined ? <Plan workspace={data} /> : null}
      {view === "keys" ? <ApiKeys /> : null}
      {view === "services" ? <Services /> : null}
    </Page>
  );
}

function Plan({ workspace }: { workspace: Workspace }): ReactNode {
  const { plan, region, deployments, exports_at_once, rate_limits } = workspace;
  const figures: [string, ReactNode][] = [
    ["Plan", plan],
    ["Region", region],
    ["Deployments", `${deployments.count} of ${deployments.limit}`],
    ["Exports at a time", String(exports_at_once)],
  ];
  return (
    <div className={styles.plan}>
      <Facts facts={figures} size="figures" />
      <h2>Rate limits</h2>
      {rate_limits === null ? (
        <p>This server does not limit requests.</p>
      ) : (
        <>
          <p>Each API key has these limits. The headers of a response say how much is left.</p>
          <div className={tableStyles.scroll} tabIndex={0} role="region" aria-label="Rate limits">
            <table className={tableStyles.table}>
              <thead>
                <tr>
                  <th scope="col">Limit</th>
                  <th scope="col">For</th>
                  <th scope="col">Requests</th>
                  <th scope="col">In seconds</th>
                </tr>
              </thead>
              <tbody>
                {rate_limits.map(({ name, category, count, seconds }) => (
                  <tr key={name}>
                    <th scope="row">{name}</th>
                    <td>{category}</td>
                    <td>{count}</td>
                    <td>{seconds}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </>
      )}
    </div>
  );
}
