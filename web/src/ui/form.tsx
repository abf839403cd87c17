import type { ReactNode } from "react";
import { Button } from "./button.tsx";
import { ErrorNotice } from "./error-notice.tsx";
import styles from "./form.module.css";

type Sending = {
  mutate: (form: FormData) => void;
  isPending: boolean;
  error: Error | null;
};

type FormProps = {
  sending: Sending;
  submit: string;
  /** The button's text until the server has responded. */
  busy?: string;
  children: ReactNode;
};

/** A form that is sent as a whole. When the server refuses it, the server's message is shown below the fields. */
export function Form({ sending, submit, busy = submit, children }: FormProps): ReactNode {
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        sending.mutate(new FormData(event.currentTarget));
      }}
    >
      {children}
      {sending.error === null ? null : (
        <div className={styles.wide}>
          <ErrorNotice error={sending.error} />
        </div>
      )}
      <div className={styles.wide}>
        <Button type="submit" kind="primary" disabled={sending.isPending}>
          {sending.isPending ? busy : submit}
        </Button>
      </div>
    </form>
  );
}

type FieldProps = { name: string; hint?: string; wide?: boolean; children: ReactNode };

export function Field({ name, hint, wide = false, children }: FieldProps): ReactNode {
  return (
    <label className={wide ? `${styles.field} ${styles.wide}` : styles.field}>
      <span>{name}</span>
      {children}
      {hint === undefined ? null : <small>{hint}</small>}
    </label>
  );
}

/** A note above the fields of a form. */
export function FormNote({ children }: { children: ReactNode }): ReactNode {
  return <p className={`${styles.note} ${styles.wide}`}>{children}</p>;
}
