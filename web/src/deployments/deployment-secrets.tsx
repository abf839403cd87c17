import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { type Deployment, pathOf } from "../api/deployments.ts";
import { useControlPlane } from "../api/tracing.ts";
import { Form, FormNote } from "../ui/form.tsx";
import styles from "./deployment-secrets.module.css";
import { SecretFields, secretRow, toSecrets } from "./secret-fields.tsx";

/** The names of the secrets, and new values for them. They are replaced together: nobody can read the old ones. */
export function DeploymentSecrets({ deployment }: { deployment: Deployment }): ReactNode {
  const control = useControlPlane();
  const queries = useQueryClient();
  const [rows, setRows] = useState(() => deployment.secrets.map(({ name }) => secretRow(name)));
  const save = useMutation<void, Error, FormData>({
    mutationFn: async () => {
      const secrets = toSecrets(rows);
      const empty = secrets.find(({ value }) => value === "");
      if (empty !== undefined) throw new Error(`${empty.name} has no value yet`);
      if (secrets.length === 0) throw new Error("A deployment with secrets keeps one at least");
      await control(pathOf(deployment.id), { method: "PATCH", body: { secrets } });
    },
    onSuccess: () => queries.invalidateQueries({ queryKey: ["deployments"] }),
  });
  return (
    <section className={styles.secrets} aria-label="Secrets">
      {deployment.secrets.length === 0 ? null : (
        <ul className={styles.names} aria-label="Secrets that it has">
          {deployment.secrets.map(({ name }) => (
            <li key={name}>
              <code>{name}</code>
            </li>
          ))}
        </ul>
      )}
      <Form sending={save} submit="Replace the secrets" busy="Making a revision">
        <FormNote>
          All secrets are replaced at once, so each needs its value anew. That makes a revision,
          which takes over when it is ready.
        </FormNote>
        <SecretFields rows={rows} onRows={setRows} />
      </Form>
    </section>
  );
}
