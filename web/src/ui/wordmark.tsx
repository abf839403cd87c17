import type { ReactNode } from "react";
import styles from "./wordmark.module.css";

export function Wordmark(): ReactNode {
  return (
    <span className={styles.wordmark}>
      <svg viewBox="0 0 20 20" aria-hidden="true">
        <path d="M2 5h16M2 10h16M2 15h16" />
        <path className={styles.thread} d="M6 1c0 5 8 4 8 9s-8 4-8 9" />
      </svg>
      Threadworks
    </span>
  );
}
