import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { Link, useLocation } from "wouter";
import { createDeployment, templatesQuery } from "../api/deployments.ts";
import { useControlPlane } from "../api/tracing.ts";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { Field, Form } from "../ui/form.tsx";
import { textIn } from "../ui/form-values.ts";
import { Page } from "../ui/page.tsx";
import { SecretFields, type SecretRow, toSecrets } from "./secret-fields.tsx";
import { TarballField } from "./tarball-field.tsx";

/** The value of the select; templates' names contain no spaces. */
const OWN_PROJECT = "own project";

/** Creates a deployment from a template of this installation, or from a tarball that `threadworks build` made. */
export default function NewDeploymentPage(): ReactNode {
  const control = useControlPlane();
  const queries = useQueryClient();
  const [, go] = useLocation();
  const templates = useQuery(templatesQuery(control));
  const [chosen, setChosen] = useState<string | null>(null);
  const [tarball, setTarball] = useState<File | null>(null);
  const [secrets, setSecrets] = useState<SecretRow[]>([]);
  const source = chosen ?? templates.data?.[0] ?? OWN_PROJECT;
  const create = useMutation({
    mutationFn: (form: FormData) => {
      if (source === OWN_PROJECT && tarball === null) throw new Error("Choose a tarball first");
      return createDeployment(control, {
        name: textIn(form, "name"),
        source: source === OWN_PROJECT && tarball !== null ? { tarball } : { template: source },
        secrets: toSecrets(secrets),
      });
    },
    onSuccess: async ({ id }) => {
      await queries.invalidateQueries({ queryKey: ["deployments"] });
      await queries.invalidateQueries({ queryKey: ["workspace"] });
      go(`/deployments/${id}`);
    },
  });
  return (
    <Page title="A new deployment" trail={<Link href="/deployments">Deployments</Link>}>
      {templates.isError ? <ErrorNotice error={templates.error} /> : null}
      {templates.data === undefined ? null : (
        <Form sending={create} submit="Deploy" busy="Deploying">
          <Field name="Name" hint="Part of its URL; it never changes">
            <input name="name" required autoComplete="off" spellCheck={false} />
          </Field>
          <Field name="Made of">
            <select value={source} onChange={({ target }) => setChosen(target.value)}>
              {templates.data.map((template) => (
                <option key={template} value={template}>
                  the template {template}
                </option>
              ))}
              <option value={OWN_PROJECT}>a project of your own</option>
            </select>
          </Field>
          {source === OWN_PROJECT ? <TarballField file={tarball} onFile={setTarball} /> : null}
          <SecretFields rows={secrets} onRows={setSecrets} />
        </Form>
      )}
    </Page>
  );
}
