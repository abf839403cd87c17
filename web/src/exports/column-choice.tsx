import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { exportColumnsQuery } from "../api/exports.ts";
import { useSession } from "../session/session.tsx";
import { Button } from "../ui/button.tsx";
import { ErrorNotice } from "../ui/error-notice.tsx";
import styles from "./column-choice.module.css";

/** The form field for the chosen columns. It is absent while all columns are chosen. */
export const COLUMN_FIELD = "column";

/** Chooses the columns that an export writes: all of them, unless the user opens this and leaves some out. */
export function ColumnChoice(): ReactNode {
  const { config } = useSession();
  const [isOpen, setOpen] = useState(false);
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  const { data, error } = useQuery({
    ...exportColumnsQuery(config.tracing_url ?? ""),
    enabled: isOpen,
  });
  const toggle = (name: string): void => {
    const next = new Set(left);
    if (!next.delete(name)) next.add(name);
    setLeft(next);
  };
  const all = data ?? [];
  return (
    <details
      className={styles.choice}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary>
        Columns: {left.size === 0 ? "all" : `${all.length - left.size} of ${all.length}`}
      </summary>
      {error === null ? null : <ErrorNotice error={error} />}
      <div className={styles.actions}>
        <Button size="s" disabled={data === undefined} onClick={() => setLeft(new Set())}>
          All
        </Button>
        <Button size="s" disabled={data === undefined} onClick={() => setLeft(new Set(all))}>
          None
        </Button>
      </div>
      <div className={styles.columns}>
        {all.map((name) => (
          <label key={name}>
            <input
              type="checkbox"
              name={left.size === 0 ? undefined : COLUMN_FIELD}
              value={name}
              checked={!left.has(name)}
              onChange={() => toggle(name)}
            />{" "}
            {name}
          </label>
        ))}
      </div>
    </details>
  );
}
