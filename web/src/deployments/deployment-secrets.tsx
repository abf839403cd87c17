import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { type Deployment, pathOf, type SecretChange } from "../api/deployments.ts";
import { useControlPlane } from "../api/tracing.ts";
import { Form, FormNote } from "../ui/form.tsx";
import styles from "./deployment-secrets.module.css";
import { SecretFields, secretRow, toSecrets } from "./secret-fields.tsx";

/**
 * Edits a deployment's secrets: lists their names, and sets new values for some. The stored values cannot be
 * read.
 */
export function DeploymentSecrets({ deployment }: { deployment: Deployment }): ReactNode {
  const control = useControlPlane();
  const queries = useQueryClient();
  const [rows, setRows] = useState(() => deployment.secrets.map(({ name }) => secretRow(name)));
  const save = useMutation<void, Error, FormData>({
    mutationFn: async () => {
      const names = new Set(deployment.secrets.map(({ name }) => name));
      const secrets = toSecrets(rows).map(({ name, value }): SecretChange => {
        if (value !== "") return { name, value };
        if (names.has(name)) return { name };
        throw new Error(`${name} has no value yet`);
      });
      if (secrets.length === 0) throw new Error("A deployment with secrets keeps one at least");
      await control(pathOf(deployment.id), { method: "PATCH", body: { secrets } });
    },
    onSuccess: () => queries.invalidateQueries({ queryKey: ["deployments"] }),
  });
  return (
    <section className={styles.secrets} aria-label="Secrets">
      {deployment.secrets.length === 0 ? null : (
        <ul className={styles.names} aria-label="Stored secrets">
          {deployment.secrets.map(({ name }) => (
            <li key={name}>
              <code>{name}</code>
            </li>
          ))}
        </ul>
      )}
      <Form sending={save} submit="Save the secrets" busy="Making a revision">
        <FormNote>
          A secret whose value is left empty keeps the one that it has, and one that is left out is
          removed. That makes a revision, which takes over when it is ready.
        </FormNote>
        <SecretFields rows={rows} onRows={setRows} />
      </Form>
    </section>
  );
}
