import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { useLocation } from "wouter";
import type { BulkExport, Destination } from "../api/exports.ts";
import type { Project } from "../api/projects.ts";
import { useTracing } from "../api/tracing.ts";
import { COLUMN_FIELD, ColumnChoice } from "./column-choice.tsx";
import { Field, Form } from "../ui/form.tsx";
import { isoTime, localTime, optional, textIn } from "../ui/form-values.ts";

const DAY_MS = 86_400_000;

/** Maximum interval of a scheduled export in hours, as on the server: a week. */
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
      const columns = form.getAll(COLUMN_FIELD);
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
          format_version: textIn(form, "version"),
          ...(columns.length === 0 ? {} : { export_fields: columns }),
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
    <Form sending={create} submit="Start the export">
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
      <Field name="Format" hint="v2_beta has lists, JSON and costs as such, v1 as texts and floats">
        <select name="version" defaultValue="v1">
          {["v1", "v2_beta"].map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </Field>
      <Field name="Repeat every … hours" hint="Left empty, once. A schedule has no end">
        <input name="hours" type="number" min={1} max={MOST_HOURS} />
      </Field>
      <ColumnChoice />
    </Form>
  );
}
