import { v7 as uuid } from "uuid";
import type { ExportFormatVersion, NewPartition } from "../../db/bulk-export-schema.ts";
import { dayOf, startOfDay } from "../../lib/utc-day.ts";

/** Microseconds since 1970; the end is exclusive. */
export type TimeRange = { start: number; end: number };

/** The parts of a range by UTC day, in order: together they are exactly the range. */
export function partitionByDay({ start, end }: TimeRange): TimeRange[] {
  const parts: TimeRange[] = [];
  for (let from = start; from < end;) {
    const to = Math.min(end, startOfDay(dayOf(from) + 1));
    parts.push({ start: from, end: to });
    from = to;
  }
  return parts;
}

/** The partitions of a range, as new export runs. */
export function newPartitions(range: TimeRange): NewPartition[] {
  return partitionByDay(range).map(({ start, end }) => ({ id: uuid(), start, end }));
}

const NUMBER_DIGITS = 5;

type PartitionPlace = {
  /** What the destination's keys begin with, without slashes around it; it may be empty. */
  prefix: string;
  exportId: string;
  workspaceId: string;
  projectId: string;
  formatVersion: ExportFormatVersion;
  /** Microseconds; any time of the partition's day. */
  startTime: number;
};

/**
 * The folder of a partition, without a slash at its end. In `v2_beta` every segment is `key=value`, so
 * that readers of Hive partitions take them for columns.
 */
export function partitionFolder(place: PartitionPlace): string {
  const day = new Date(place.startTime / 1000);
  return [
    ...(place.prefix === "" ? [] : [place.prefix]),
    `export_id=${place.exportId}`,
    `tenant_id=${place.workspaceId}`,
    `session_id=${place.projectId}`,
    place.formatVersion === "v1" ? "runs" : "resource=runs",
    `year=${padded(day.getUTCFullYear(), 4)}`,
    `month=${padded(day.getUTCMonth() + 1, 2)}`,
    `day=${padded(day.getUTCDate(), 2)}`,
  ].join("/");
}

/** The same name whenever the file is written: a repeated step overwrites what it left. */
export function fileName(number: number): string {
  return `runs-${padded(number, NUMBER_DIGITS)}.parquet`;
}

/** Readers of data sets pass over names that begin with an underscore. */
export const MANIFEST_NAME = "_manifest.json";

function padded(number: number, digits: number): string {
  return String(number).padStart(digits, "0");
}
