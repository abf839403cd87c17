import { type ReactNode, useState } from "react";
import { Button } from "../../ui/button.tsx";
import { parseJson } from "../../ui/parse-json.ts";
import styles from "./interrupt-form.module.css";
import type { Decision, Review } from "./review-request.ts";

type Props = { review: Review; onDecide: (decision: Decision) => void };

/** Reviews one action that waits for a human, who approves it, changes its arguments, or rejects it. */
export function ReviewForm({ review: { request, allowed }, onDecide }: Props): ReactNode {
  const [args, setArgs] = useState(request.args);
  const [message, setMessage] = useState("");
  const isEdited = JSON.stringify(args) !== JSON.stringify(request.args);
  const may = (decision: string): boolean => allowed.includes(decision);
  return (
    <>
      <p>{request.description ?? `The agent wants to do this: ${request.name}.`}</p>
      {Object.entries(args).map(([name, value]) => (
        <label key={name} className={styles.field}>
          <span>{name}</span>
          <input
            readOnly={!may("edit")}
            value={typeof value === "string" ? value : JSON.stringify(value)}
            onChange={({ target }) => {
              const isText = typeof request.args[name] === "string";
              setArgs({ ...args, [name]: isText ? target.value : parseJson(target.value) });
            }}
          />
        </label>
      ))}
      {may("reject") || may("respond") ? (
        <label className={styles.field}>
          <span>{may("respond") ? "Answer" : "Reason"}</span>
          <input value={message} onChange={({ target }) => setMessage(target.value)} />
        </label>
      ) : null}
      <div className={styles.actions}>
        {may("reject") ? (
          <Button size="s" onClick={() => onDecide({ type: "reject", message })}>
            Reject
          </Button>
        ) : null}
        {may("respond") ? (
          <Button
            size="s"
            disabled={message === ""}
            onClick={() => onDecide({ type: "respond", message })}
          >
            Respond
          </Button>
        ) : null}
        {isEdited ? (
          <Button
            kind="primary"
            size="s"
            onClick={() => onDecide({ type: "edit", edited_action: { name: request.name, args } })}
          >
            Approve with changes
          </Button>
        ) : null}
        {may("approve") && !isEdited ? (
          <Button kind="primary" size="s" onClick={() => onDecide({ type: "approve" })}>
            Approve
          </Button>
        ) : null}
      </div>
    </>
  );
}
