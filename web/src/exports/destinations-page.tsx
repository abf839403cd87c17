import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { type Destination, destinationsQuery } from "../api/exports.ts";
import { useTracing } from "../api/tracing.ts";
import { ConfirmButton } from "../ui/confirm-button.tsx";
import { EmptyState } from "../ui/empty-state.tsx";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { Field, Form, FormNote } from "../ui/form.tsx";
import { textIn } from "../ui/form-values.ts";
import { Page } from "../ui/page.tsx";
import styles from "./destinations-page.module.css";

/** Lists the buckets that exports are written to. Their keys can be replaced here, but are never shown. */
export default function DestinationsPage(): ReactNode {
  const { data, error, refetch } = useQuery(destinationsQuery(useTracing()));
  return (
    <Page title="Destinations" trail={<Link href="/exports">Exports</Link>}>
      {error === null ? null : <ErrorNotice error={error} retry={refetch} />}
      {data?.length === 0 ? (
        <EmptyState title="There is no destination yet">
          <p>
            <Link href="/exports/new">A new export</Link> begins with one.
          </p>
        </EmptyState>
      ) : null}
      <ul className={styles.list}>
        {data?.map((destination) => (
          <li key={destination.id}>
            <Bucket destination={destination} />
          </li>
        ))}
      </ul>
    </Page>
  );
}

function Bucket({ destination }: { destination: Destination }): ReactNode {
  const { id, display_name, config, credentials_keys } = destination;
  const tracing = useTracing();
  const queries = useQueryClient();
  const path = `/bulk-exports/destinations/${id}`;
  const refresh = (): Promise<void> => queries.invalidateQueries({ queryKey: ["destinations"] });
  const rotate = useMutation({
    mutationFn: (form: FormData) =>
      tracing(path, {
        method: "PATCH",
        body: {
          credentials: {
            access_key_id: textIn(form, "keyId"),
            secret_access_key: textIn(form, "secret"),
          },
        },
      }),
    onSuccess: refresh,
  });
  const remove = useMutation({
    mutationFn: () => tracing(path, { method: "DELETE" }),
    onSuccess: refresh,
  });
  return (
    <>
      <div className={styles.facts}>
        <strong>{display_name}</strong>
        <code>{[config.bucket_name, config.prefix].filter((part) => part !== "").join("/")}</code>
        <span>{config.endpoint_url ?? "AWS"}</span>
        <span>
          {credentials_keys.length === 0 ? "keys of the installation" : "keys of its own"}
        </span>
        <ConfirmButton
          name="Delete"
          question="Exports to it end."
          disabled={remove.isPending}
          onConfirm={() => remove.mutate()}
        />
      </div>
      {remove.isError ? <ErrorNotice error={remove.error} /> : null}
      <details>
        <summary>Replace its keys</summary>
        <Form sending={rotate} submit="Replace the keys" busy="Trying the bucket">
          <FormNote>
            The server writes a small file with them first. Running exports continue with the new
            ones.
          </FormNote>
          <Field name="Key id">
            <input name="keyId" required autoComplete="off" />
          </Field>
          <Field name="Secret">
            <input name="secret" type="password" required autoComplete="off" />
          </Field>
        </Form>
        {rotate.isSuccess ? <p role="status">The keys are replaced.</p> : null}
      </details>
    </>
  );
}
