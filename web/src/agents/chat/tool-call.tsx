import type { ReactNode } from "react";
import { JsonView } from "../../ui/json-view.tsx";
import { parseJson } from "../../ui/parse-json.ts";
import styles from "./tool-call.module.css";
import type { CalledTool } from "./tool-calls.ts";

/** Shows one call of a tool: its arguments, and its result once there is one. */
export function ToolCall({ call: { name, args, result, isError } }: Props): ReactNode {
  return (
    <details className={styles.call}>
      <summary>
        <code className={styles.name}>{name}</code>
        <code className={styles.args}>{JSON.stringify(args)}</code>
        <span className={isError ? styles.failed : styles.state}>
          {result === null ? "calling" : isError ? "failed" : "done"}
        </span>
      </summary>
      <div className={styles.body}>
        <h3>Arguments</h3>
        <JsonView value={args} />
        <h3>Result</h3>
        {result === null ? (
          <p className={styles.state}>The tool has not answered yet.</p>
        ) : (
          <JsonView value={parseJson(result)} />
        )}
      </div>
    </details>
  );
}

type Props = { call: CalledTool };
