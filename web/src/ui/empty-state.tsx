import type { ReactNode } from "react";
import styles from "./empty-state.module.css";

type Props = { title: string; children?: ReactNode };

/** Says what to do when there is nothing to show yet. */
export function EmptyState({ title, children }: Props): ReactNode {
  return (
    <div className={styles.empty}>
      <h2>{title}</h2>
      {children}
    </div>
  );
}
