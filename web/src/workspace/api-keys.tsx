import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useTracing } from "../api/tracing.ts";
import { type ApiKey, keysQuery } from "../api/workspace.ts";
import { useSession } from "../session/session.tsx";
import { CodeBlock } from "../ui/code-block.tsx";
import { ConfirmButton } from "../ui/confirm-button.tsx";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { Field, Form } from "../ui/form.tsx";
import { textIn } from "../ui/form-values.ts";
import { ago } from "../ui/time.ts";
import styles from "./workspace-lists.module.css";

type CreatedKey = ApiKey & { key: string };

/**
 * Manages the keys of the workspace. The text of a new key is shown until the page is left, and nowhere
 * afterwards.
 */
export function ApiKeys(): ReactNode {
  const tracing = useTracing();
  const queries = useQueryClient();
  const { apiKey } = useSession();
  const { data, error, refetch } = useQuery(keysQuery(tracing));
  const refresh = (): Promise<void> => queries.invalidateQueries({ queryKey: ["keys"] });
  const create = useMutation({
    mutationFn: (form: FormData) =>
      tracing<CreatedKey>("/api-key", {
        method: "POST",
        body: { description: textIn(form, "description") },
      }),
    onSuccess: refresh,
    gcTime: 0,
  });
  const revoke = useMutation({
    mutationFn: (id: string) => tracing(`/api-key/${id}`, { method: "DELETE" }),
    onSettled: refresh,
  });
  const problem = error ?? revoke.error;
  const isOwn = ({ short_key }: ApiKey): boolean => apiKey.startsWith(short_key.replace("...", ""));
  return (
    <section className={styles.section} aria-label="API keys">
      {problem === null ? null : <ErrorNotice error={problem} retry={refetch} />}
      <ul className={styles.list}>
        {data?.map((key) => (
          <li key={key.id}>
            <strong>{key.description}</strong>
            <code>{key.short_key}</code>
            <span className={styles.fact}>
              {key.last_used_at === null ? "never used" : `used ${ago(key.last_used_at)}`}
            </span>
            {isOwn(key) ? (
              <span className={styles.fact}>this page&apos;s key</span>
            ) : (
              <ConfirmButton
                name="Revoke"
                question="Programs that use it stop working."
                disabled={revoke.isPending}
                onConfirm={() => revoke.mutate(key.id)}
              />
            )}
          </li>
        ))}
      </ul>
      {create.data === undefined ? null : (
        <div className={styles.created} role="status">
          <p>Copy the key {create.data.description} now: it is not shown again.</p>
          <CodeBlock text={create.data.key} />
        </div>
      )}
      <h2>A new key</h2>
      <Form sending={create} submit="Make a key">
        <Field name="What it is for">
          <input name="description" required maxLength={255} autoComplete="off" />
        </Field>
      </Form>
    </section>
  );
}
