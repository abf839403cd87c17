import type { ReactNode } from "react";
import styles from "./page.module.css";
import { usePageTitle } from "./use-page-title.ts";

type Props = { title: string; trail?: ReactNode; actions?: ReactNode; children: ReactNode };

/** A page with a title and one column. */
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

/** Shows the main facts of a page in a row above its content. */
export function PageFacts({ children }: { children: ReactNode }): ReactNode {
  return <p className={styles.facts}>{children}</p>;
}
