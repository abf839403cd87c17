import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useDeferredValue, useState } from "react";
import { filterProblemQuery } from "../../api/runs.ts";
import { useTracing } from "../../api/tracing.ts";
import { Button } from "../../ui/button.tsx";
import { CompletedInput } from "./completed-input.tsx";
import styles from "./filter-field.module.css";

const EXAMPLES = [
  ["Errors", 'eq(status, "error")'],
  ["Slower than 5 s", 'gt(latency, "5s")'],
  ["With a text", 'search("weather")'],
  ["Rated bad", 'and(eq(feedback_key, "user_score"), eq(feedback_score, 0))'],
] as const;

type Props = { projectId: string; filter: string; onFilter: (filter: string) => void };

/** Edits a filter. The server validates it meanwhile, and the address contains the applied filter. */
export function FilterField({ projectId, filter, onFilter }: Props): ReactNode {
  const [text, setText] = useState(filter);
  const [applied, setApplied] = useState(filter);
  if (applied !== filter) {
    setApplied(filter);
    setText(filter);
  }
  const checked = useDeferredValue(text.trim());
  const { data: problem } = useQuery(filterProblemQuery(useTracing(), checked));
  const apply = (next: string): void => {
    setText(next);
    onFilter(next);
  };
  const isWrong = checked !== "" && problem != null;
  return (
    <form
      className={styles.form}
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isWrong) apply(text.trim());
      }}
    >
      <div className={styles.row}>
        <CompletedInput
          projectId={projectId}
          text={text}
          isWrong={isWrong}
          describedBy="filter-problem"
          onText={setText}
        />
        <Button type="submit" disabled={isWrong}>
          Filter
        </Button>
        {filter === "" ? null : (
          <Button kind="quiet" onClick={() => apply("")}>
            Show all
          </Button>
        )}
      </div>
      <p
        id="filter-problem"
        className={isWrong ? styles.problem : styles.examples}
        aria-live="polite"
      >
        {isWrong
          ? problem
          : EXAMPLES.map(([name, example]) => (
              <button key={name} type="button" onClick={() => apply(example)}>
                {name}
              </button>
            ))}
      </p>
    </form>
  );
}
