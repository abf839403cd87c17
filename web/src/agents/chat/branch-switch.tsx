import type { ReactNode } from "react";
import { Button } from "../../ui/button.tsx";
import styles from "./branch-switch.module.css";

type Props = {
  branch: string | undefined;
  options: string[] | undefined;
  onChange: (branch: string) => void;
};

/** Chooses which of several versions of a message is shown. */
export function BranchSwitch({ branch, options, onChange }: Props): ReactNode {
  if (branch === undefined || options === undefined || options.length < 2) return null;
  const index = options.indexOf(branch);
  const to = (step: number): string | undefined => options[index + step];
  const choose = (next: string | undefined): void => {
    if (next !== undefined) onChange(next);
  };
  return (
    <span className={styles.switch} role="group" aria-label="Branches">
      <Button
        kind="quiet"
        size="s"
        aria-label="Previous branch"
        disabled={to(-1) === undefined}
        onClick={() => choose(to(-1))}
      >
        ‹
      </Button>
      {index + 1} of {options.length}
      <Button
        kind="quiet"
        size="s"
        aria-label="Next branch"
        disabled={to(1) === undefined}
        onClick={() => choose(to(1))}
      >
        ›
      </Button>
    </span>
  );
}
