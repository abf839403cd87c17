import type { ReactNode } from "react";
import styles from "./facts.module.css";

type Props = {
  /** Each has its name above. */
  facts: readonly (readonly [name: string, value: ReactNode])[];
  /** Figures are what a page is about, details stand beside something else. */
  size: "figures" | "details";
};

/** What is to be known of one thing, in a line. */
export function Facts({ facts, size }: Props): ReactNode {
  return (
    <dl className={[styles.facts, styles[size]].join(" ")}>
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
