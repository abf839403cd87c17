import type { ReactNode } from "react";
import styles from "./facts.module.css";

type Props = {
  /** Each fact has its name above its value. */
  facts: readonly (readonly [name: string, value: ReactNode])[];
  /** "figures" is for the main content of a page, "details" for facts beside something else. */
  size: "figures" | "details";
};

/** Shows facts about one thing in a row. */
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
