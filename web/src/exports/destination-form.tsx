import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useTracing } from "../api/tracing.ts";
import { Field, Form, FormNote } from "../ui/form.tsx";
import { optional, textIn } from "../ui/form-values.ts";

/**
 * Creates a destination, a bucket that exports are written to. The server checks it first and reports any
 * problem.
 */
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
    <Form sending={create} submit="Add the destination" busy="Trying the bucket">
      <FormNote>
        Any S3-compatible bucket. On your machine, npm start serves one, and prints its endpoint,
        name and keys.
      </FormNote>
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
    </Form>
  );
}
