import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useTracing } from "../api/tracing.ts";
import { Button } from "../ui/button.tsx";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { Field } from "./field.tsx";
import styles from "./form.module.css";
import { optional, textIn } from "./form-values.ts";

/** A bucket that exports are written to. The server tries it before it takes it, and says what it refuses. */
export function DestinationForm(): ReactNode {
  const tracing = useTracing();
  const queries = useQueryClient();
  const create = useMutation({
    mutationFn: (form: FormData) =>
      tracing("/bulk-exports/destinations", {
        method: "POST",
        body: {
          destination_type: "s3",
          display_name: textIn(form, "name"),
          config: {
            bucket_name: textIn(form, "bucket"),
            prefix: textIn(form, "prefix"),
            ...optional("region", textIn(form, "region")),
            ...optional("endpoint_url", textIn(form, "endpoint")),
          },
          ...(textIn(form, "keyId") === ""
            ? {}
            : {
                credentials: {
                  access_key_id: textIn(form, "keyId"),
                  secret_access_key: textIn(form, "secret"),
                },
              }),
        },
      }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["destinations"] }),
  });
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        create.mutate(new FormData(event.currentTarget));
      }}
    >
      <p className={`${styles.note} ${styles.wide}`}>
        Any S3-compatible bucket. On your machine, npm start serves one, and prints its endpoint,
        name and keys.
      </p>
      <Field name="Name">
        <input name="name" required />
      </Field>
      <Field name="Bucket">
        <input name="bucket" required />
      </Field>
      <Field name="Endpoint" hint="Left empty, AWS">
        <input name="endpoint" inputMode="url" />
      </Field>
      <Field name="Region" hint="Where the bucket is; needed for AWS">
        <input name="region" />
      </Field>
      <Field name="Key id">
        <input name="keyId" autoComplete="off" />
      </Field>
      <Field name="Secret" hint="It is stored encrypted, and never shown again">
        <input name="secret" type="password" autoComplete="off" />
      </Field>
      <Field name="Prefix" hint="Before the names of the files">
        <input name="prefix" />
      </Field>
      {create.isError ? (
        <div className={styles.wide}>
          <ErrorNotice error={create.error} />
        </div>
      ) : null}
      <div className={styles.wide}>
        <Button type="submit" kind="primary" disabled={create.isPending}>
          {create.isPending ? "Trying the bucket" : "Add the destination"}
        </Button>
      </div>
    </form>
  );
}
