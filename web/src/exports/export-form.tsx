import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { useLocation } from "wouter";
import type { BulkExport, Destination } from "../api/exports.ts";
import type { Project } from "../api/projects.ts";
import { useTracing } from "../api/tracing.ts";
import { Button } from "../ui/button.tsx";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { Field } from "./field.tsx";
import styles from "./form.module.css";
import { isoTime, localTime, optional, textIn } from "./form-values.ts";

const DAY_MS = 86_400_000;

/** Of the server: an export for each so many hours, up to a week. */
const MOST_HOURS = 168;

type Props = { projects: readonly Project[]; destinations: readonly Destination[] };

export function ExportForm({ projects, destinations }: Props): ReactNode {
  const tracing = useTracing();
  const queries = useQueryClient();
  const [, go] = useLocation();
  const [now] = useState(() => Date.now());
  const create = useMutation({
    mutationFn: (form: FormData) => {
      const hours = textIn(form, "hours");
      return tracing<BulkExport>("/bulk-exports", {
        method: "POST",
        body: {
          bulk_export_destination_id: textIn(form, "destination"),
          session_id: textIn(form, "project"),
          start_time: isoTime(textIn(form, "from")),
          ...(hours === ""
            ? { end_time: isoTime(textIn(form, "to")) }
            : { interval_hours: Number(hours) }),
          compression: textIn(form, "compression"),
          ...optional("filter", textIn(form, "filter")),
        },
      });
    },
    onSuccess: async ({ id }) => {
      await queries.invalidateQueries({ queryKey: ["exports"] });
      go(`/exports/${id}`);
    },
  });
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        create.mutate(new FormData(event.currentTarget));
      }}
    >
      <Field name="Project">
        <select name="project">
          {projects.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      </Field>
      <Field name="Destination">
        <select name="destination">
          {destinations.map(({ id, display_name }) => (
            <option key={id} value={id}>
              {display_name}
            </option>
          ))}
        </select>
      </Field>
      <Field name="Runs from">
        <input name="from" type="datetime-local" required defaultValue={localTime(now - DAY_MS)} />
      </Field>
      <Field name="until">
        <input name="to" type="datetime-local" required defaultValue={localTime(now + DAY_MS)} />
      </Field>
      <Field name="Filter" hint="In the filter language; left empty, all runs" wide>
        <input name="filter" spellCheck={false} placeholder={'eq(status, "error")'} />
      </Field>
      <Field name="Compression">
        <select name="compression" defaultValue="gzip">
          {["gzip", "snappy", "zstandard", "none"].map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </Field>
      <Field name="Repeat every … hours" hint="Left empty, once. A schedule has no end">
        <input name="hours" type="number" min={1} max={MOST_HOURS} />
      </Field>
      {create.isError ? (
        <div className={styles.wide}>
          <ErrorNotice error={create.error} />
        </div>
      ) : null}
      <div className={styles.wide}>
        <Button type="submit" kind="primary" disabled={create.isPending}>
          Start the export
        </Button>
      </div>
    </form>
  );
}
