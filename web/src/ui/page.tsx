import type { ReactNode } from "react";
import styles from "./page.module.css";
import { usePageTitle } from "./use-page-title.ts";

type Props = { title: string; trail?: ReactNode; actions?: ReactNode; children: ReactNode };

/** A page of one column under a title. */
export function Page({ title, trail, actions, children }: Props): ReactNode {
  usePageTitle(title);
  return (
    <div className={styles.page}>
      <header className={styles.header}>
        <div>
          {trail === undefined ? null : <p className={styles.trail}>{trail}</p>}
          <h1>{title}</h1>
        </div>
        {actions}
      </header>
      {children}
    </div>
  );
}

/** What a page says of its subject before all else, in a row. */
export function PageFacts({ children }: { children: ReactNode }): ReactNode {
  return <p className={styles.facts}>{children}</p>;
}
