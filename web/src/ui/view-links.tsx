import type { ReactNode } from "react";
import { Link } from "wouter";
import styles from "./view-links.module.css";

type View = { name: string; href: string; isHere: boolean };

/** Links to the views of one thing, each of which has an address of its own. */
export function ViewLinks({ label, views }: { label: string; views: readonly View[] }): ReactNode {
  return (
    <nav className={styles.views} aria-label={label}>
      {views.map(({ name, href, isHere }) => (
        <Link
          key={href}
          href={href}
          className={styles.view}
          aria-current={isHere ? "page" : undefined}
        >
          {name}
        </Link>
      ))}
    </nav>
  );
}
