import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { useControlPlane } from "../api/tracing.ts";
import { providersQuery } from "../api/workspace.ts";
import { ConfirmButton } from "../ui/confirm-button.tsx";
import { EmptyState } from "../ui/empty-state.tsx";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { Field, Form } from "../ui/form.tsx";
import { optional, textIn } from "../ui/form-values.ts";
import styles from "./workspace-lists.module.css";

/** Manages OAuth providers: services that the agents' users can connect. */
export function Services(): ReactNode {
  const control = useControlPlane();
  const queries = useQueryClient();
  const { data, error, refetch } = useQuery(providersQuery(control));
  const [isMcp, setMcp] = useState(false);
  const refresh = (): Promise<void> => queries.invalidateQueries({ queryKey: ["providers"] });
  const create = useMutation({
    mutationFn: (form: FormData) => {
      const named = { provider_id: textIn(form, "id"), name: textIn(form, "name") };
      if (isMcp) {
        return control("/auth/providers/mcp-discover", {
          method: "POST",
          body: { ...named, mcp_server_url: textIn(form, "server") },
        });
      }
      const body = {
        ...named,
        client_id: textIn(form, "client"),
        ...optional("client_secret", textIn(form, "secret")),
        auth_url: textIn(form, "authUrl"),
        token_url: textIn(form, "tokenUrl"),
        uses_pkce: form.has("pkce"),
      };
      return control("/auth/providers", { method: "POST", body });
    },
    onSuccess: refresh,
  });
  const remove = useMutation({
    mutationFn: (id: string) =>
      control(`/auth/providers/${encodeURIComponent(id)}`, { method: "DELETE" }),
    onSettled: refresh,
  });
  const problem = error ?? remove.error;
  return (
    <section className={styles.section} aria-label="Connected services">
      {problem === null ? null : <ErrorNotice error={problem} retry={refetch} />}
      {data?.length === 0 ? (
        <EmptyState title="No service can be connected yet">
          <p>
            A provider is a service with OAuth, such as Google or GitHub. Agents ask for a token of
            it in the name of their user, who connects it once.
          </p>
        </EmptyState>
      ) : null}
      <ul className={styles.list}>
        {data?.map(({ provider_id, name, auth_url, mcp_server_url }) => (
          <li key={provider_id}>
            <strong>{name}</strong>
            <code>{provider_id}</code>
            <span className={styles.fact}>{mcp_server_url ?? auth_url}</span>
            <ConfirmButton
              name="Remove"
              question="The tokens of its users go, too."
              disabled={remove.isPending}
              onConfirm={() => remove.mutate(provider_id)}
            />
          </li>
        ))}
      </ul>
      <h2>Another service</h2>
      <Form
        key={data?.length ?? 0}
        sending={create}
        submit="Add the service"
        busy="Asking the service"
      >
        <Field name="Kind" wide>
          <select
            value={isMcp ? "mcp" : "oauth"}
            onChange={({ target }) => setMcp(target.value === "mcp")}
          >
            <option value="oauth">OAuth 2: a client that is registered there</option>
            <option value="mcp">MCP server: a client is registered now</option>
          </select>
        </Field>
        <Field name="Id" hint="Agents and the redirect URL name it by this">
          <input name="id" required spellCheck={false} autoComplete="off" />
        </Field>
        <Field name="Name">
          <input name="name" required autoComplete="off" />
        </Field>
        {isMcp ? (
          <Field name="URL of the server" wide>
            <input name="server" required inputMode="url" />
          </Field>
        ) : (
          <>
            <Field name="Authorization URL">
              <input name="authUrl" required inputMode="url" />
            </Field>
            <Field name="Token URL">
              <input name="tokenUrl" required inputMode="url" />
            </Field>
            <Field name="Client id">
              <input name="client" required autoComplete="off" />
            </Field>
            <Field name="Client secret" hint="It is stored encrypted, and never shown again">
              <input name="secret" type="password" autoComplete="off" />
            </Field>
            <label className={styles.fact}>
              <input type="checkbox" name="pkce" /> with PKCE
            </label>
          </>
        )}
      </Form>
    </section>
  );
}
