import { queryOptions } from "@tanstack/react-query";
import { request } from "./request.ts";
import type { Tracing } from "./tracing.ts";

export type Destination = {
  id: string;
  display_name: string;
  config: { bucket_name: string; prefix: string; endpoint_url: string | null };
  /** Names of the stored credentials; empty when the installation's own are used. */
  credentials_keys: string[];
};

export type BulkExport = {
  id: string;
  bulk_export_destination_id: string;
  session_id: string;
  start_time: string;
  end_time: string | null;
  filter: string | null;
  format_version: string;
  compression: string;
  interval_hours: number | null;
  status: string;
  hold_reason: string | null;
  created_at: string;
  finished_at: string | null;
};

export type ExportRun = {
  id: string;
  status: string;
  retry_number: number;
  errors: Record<string, string> | null;
  start_time: string;
  end_time: string;
  metadata: {
    result: { rows_written: number; exported_files: string[]; export_path: string };
  };
};

const FOLLOW_MS = 1_500;

export function isOver(status: string): boolean {
  return !["CREATED", "RUNNING"].includes(status);
}

type ApiDocument = {
  components: {
    schemas: { BulkExportCreate: { properties: { export_fields: ColumnsSchema } } };
  };
};
type ColumnsSchema = { items?: { enum: string[] }; anyOf?: { items?: { enum: string[] } }[] };

/** Loads the columns that an export can have from the API's own description: there is no other list of them. */
export function exportColumnsQuery(host: string) {
  return queryOptions({
    queryKey: ["export-columns"],
    staleTime: Infinity,
    queryFn: async ({ signal }): Promise<string[]> => {
      const { components } = await request<ApiDocument>(`${host}/openapi.json`, { signal });
      const { items, anyOf } = components.schemas.BulkExportCreate.properties.export_fields;
      return (items ?? anyOf?.find((branch) => branch.items !== undefined)?.items)?.enum ?? [];
    },
  });
}

export function destinationsQuery(tracing: Tracing) {
  return queryOptions({
    queryKey: ["destinations"],
    queryFn: ({ signal }) => tracing<Destination[]>("/bulk-exports/destinations", { signal }),
  });
}

export function exportsQuery(tracing: Tracing) {
  return queryOptions({
    queryKey: ["exports"],
    queryFn: ({ signal }) => tracing<BulkExport[]>("/bulk-exports?limit=100", { signal }),
  });
}

/** Loads an export, and polls until it has ended. */
export function exportQuery(tracing: Tracing, exportId: string) {
  return queryOptions({
    queryKey: ["exports", exportId],
    queryFn: ({ signal }) => tracing<BulkExport>(`/bulk-exports/${exportId}`, { signal }),
    refetchInterval: ({ state }) =>
      state.data !== undefined && isOver(state.data.status) ? false : FOLLOW_MS,
  });
}

/**
 * Loads the parts of an export. The status is part of the query's key, because parts that were loaded under
 * an earlier status may not be final.
 */
export function exportRunsQuery(tracing: Tracing, exportId: string, status: string | undefined) {
  return queryOptions({
    queryKey: ["exports", exportId, "runs", status],
    enabled: status !== undefined,
    queryFn: ({ signal }) => tracing<ExportRun[]>(`/bulk-exports/${exportId}/runs`, { signal }),
    refetchInterval: status === undefined || isOver(status) ? false : FOLLOW_MS,
  });
}
