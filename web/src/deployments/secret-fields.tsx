import type { ReactNode } from "react";
import type { Secret } from "../api/deployments.ts";
import { Button } from "../ui/button.tsx";
import styles from "./secret-fields.module.css";

/** A secret that is being edited; `id` is that of the row. */
export type SecretRow = Secret & { id: string };

type Props = { rows: readonly SecretRow[]; onRows: (rows: SecretRow[]) => void };

/** Edits the names and values of secrets. Values can only be written: the API does not return them. */
export function SecretFields({ rows, onRows }: Props): ReactNode {
  const change = (id: string, secret: Partial<Secret>): void =>
    onRows(rows.map((row) => (row.id === id ? { ...row, ...secret } : row)));
  return (
    <fieldset className={styles.secrets}>
      <legend>Secrets</legend>
      <p className={styles.note}>
        Variables of the code&apos;s environment, such as a key of a model. They are stored
        encrypted, and never shown.
      </p>
      {rows.map(({ id, name, value }) => (
        <div key={id} className={styles.row}>
          <input
            aria-label="Name of the secret"
            placeholder="MODEL_KEY"
            spellCheck={false}
            autoComplete="off"
            value={name}
            onChange={({ target }) => change(id, { name: target.value })}
          />
          <input
            aria-label={`Value of ${name === "" ? "the secret" : name}`}
            type="password"
            autoComplete="off"
            value={value}
            onChange={({ target }) => change(id, { value: target.value })}
          />
          <Button
            kind="quiet"
            size="s"
            aria-label={`Leave out ${name === "" ? "the secret" : name}`}
            onClick={() => onRows(rows.filter((row) => row.id !== id))}
          >
            Leave out
          </Button>
        </div>
      ))}
      <Button size="s" onClick={() => onRows([...rows, secretRow("")])}>
        Add a secret
      </Button>
    </fieldset>
  );
}

export function secretRow(name: string): SecretRow {
  return { id: crypto.randomUUID(), name, value: "" };
}

/** Returns the secrets that were filled in; rows without a name are skipped. */
export function toSecrets(rows: readonly SecretRow[]): Secret[] {
  return rows
    .filter(({ name }) => name.trim() !== "")
    .map(({ name, value }) => ({ name: name.trim(), value }));
}
