import type { Assistant } from "@langchain/langgraph-sdk";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { useAgents } from "../../api/agents.ts";
import { Button } from "../../ui/button.tsx";
import { ErrorNotice } from "../../ui/error-notice.tsx";
import { type JsonSchema, SchemaFields } from "./schema-fields.tsx";
import styles from "./version-form.module.css";

/** Edits the name, description and context of an assistant. Saving creates its next version. */
export function VersionForm({ assistant }: { assistant: Assistant }): ReactNode {
  const agents = useAgents();
  const queries = useQueryClient();
  const [name, setName] = useState(assistant.name);
  const [description, setDescription] = useState(assistant.description ?? "");
  const [context, setContext] = useState(assistant.context as Record<string, unknown>);
  const schemas = useQuery({
    queryKey: ["schemas", assistant.assistant_id],
    queryFn: () => agents.assistants.getSchemas(assistant.assistant_id),
    staleTime: Infinity,
  });
  const save = useMutation({
    mutationFn: () =>
      agents.assistants.update(assistant.assistant_id, { name, description, context }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["assistants"] }),
  });
  const schema = schemas.data?.context_schema as JsonSchema | null | undefined;
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate();
      }}
    >
      <label className={styles.field}>
        <span>Name</span>
        <input required value={name} onChange={({ target }) => setName(target.value)} />
      </label>
      <label className={styles.field}>
        <span>Description</span>
        <textarea
          rows={2}
          value={description}
          onChange={({ target }) => setDescription(target.value)}
        />
      </label>
      {schema?.properties === undefined ? null : (
        <fieldset className={styles.context}>
          <legend>Context</legend>
          <SchemaFields schema={schema} value={context ?? {}} onChange={setContext} />
        </fieldset>
      )}
      {save.isError ? <ErrorNotice error={save.error} /> : null}
      <Button type="submit" kind="primary" disabled={save.isPending}>
        Save as version {assistant.version + 1}
      </Button>
    </form>
  );
}
