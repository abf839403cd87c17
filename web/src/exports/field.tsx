import type { ReactNode } from "react";
import styles from "./form.module.css";

type Props = { name: string; hint?: string; wide?: boolean; children: ReactNode };

export function Field({ name, hint, wide = false, children }: Props): ReactNode {
  return (
    <label className={wide ? `${styles.field} ${styles.wide}` : styles.field}>
      <span>{name}</span>
      {children}
      {hint === undefined ? null : <small>{hint}</small>}
    </label>
  );
}
