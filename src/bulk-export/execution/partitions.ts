import { v7 as uuid } from "uuid";
import type { ExportFormatVersion, NewPartition } from "../../db/bulk-export-schema.ts";
import { dayOf, startOfDay } from "../../lib/utc-day.ts";

/** Microseconds since the epoch; the end is exclusive. */
export type TimeRange = { start: number; end: number };

/** Splits a range by UTC day. The parts are in order and cover exactly the range. */
export function partitionByDay({ start, end }: TimeRange): TimeRange[] {
  const parts: TimeRange[] = [];
  for (let from = start; from < end;) {
    const to = Math.min(end, startOfDay(dayOf(from) + 1));
    parts.push({ start: from, end: to });
    from = to;
  }
  return parts;
}

/** Returns the partitions of a range as new export runs. */
export function newPartitions(range: TimeRange): NewPartition[] {
  return partitionByDay(range).map(({ start, end }) => ({ id: uuid(), start, end }));
}

const NUMBER_DIGITS = 5;

type PartitionPlace = {
  /** The prefix of the destination's keys, without leading or trailing slashes; it may be empty. */
  prefix: string;
  exportId: string;
  workspaceId: string;
  projectId: string;
  formatVersion: ExportFormatVersion;
  /** Any time of the partition's day, in microseconds. */
  startTime: number;
};

/**
 * Returns the folder of a partition, without a trailing slash. In `v2_beta` every segment is `key=value`, so that
 * readers of Hive partitions use the segments as columns.
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

/**
 * Returns the name of a file by its number. It is always the same, so a repeated step overwrites its former file.
 */
export function fileName(number: number): string {
  return `runs-${padded(number, NUMBER_DIGITS)}.parquet`;
}

/** Readers of data sets ignore names that begin with an underscore. */
export const MANIFEST_NAME = "_manifest.json";

function padded(number: number, digits: number): string {
  return String(number).padStart(digits, "0");
}
