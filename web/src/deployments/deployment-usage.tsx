import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { usageQuery } from "../api/deployments.ts";
import { useControlPlane } from "../api/tracing.ts";
import { EmptyState } from "../ui/empty-state.tsx";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { byteCount, count } from "../ui/figures.ts";
import styles from "../ui/table.module.css";

/** Shows what the deployment's code has used of the network and of the store, by day. */
export function DeploymentUsage({ deploymentId }: { deploymentId: string }): ReactNode {
  const { data, error, refetch } = useQuery(usageQuery(useControlPlane(), deploymentId));
  if (error !== null) return <ErrorNotice error={error} retry={refetch} />;
  if (data?.length === 0) {
    return (
      <EmptyState title="There is no usage yet">
        <p>Calls that its code makes, and what it reads and writes, are counted here by day.</p>
      </EmptyState>
    );
  }
  return (
    <div className={styles.scroll} tabIndex={0} role="region" aria-label="Usage">
      <table className={styles.table}>
        <thead>
          <tr>
            <th scope="col">Day</th>
            <th scope="col">Calls out</th>
            <th scope="col">Refused</th>
            <th scope="col">Bytes out</th>
            <th scope="col">Bytes in</th>
            <th scope="col">Store operations</th>
          </tr>
        </thead>
        <tbody>
          {data?.map((day) => (
            <tr key={day.day}>
              <th scope="row">{day.day}</th>
              <td>{count(day.requests)}</td>
              <td>{count(day.refused)}</td>
              <td>{byteCount(day.bytes_sent)}</td>
              <td>{byteCount(day.bytes_received)}</td>
              <td>{count(day.storage_operations)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
