import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chosenColumns } from "../../../../src/bulk-export/parquet/columns.ts";
import {
  type RunFileOptions,
  RunFileWriter,
  type WrittenFile,
} from "../../../../src/bulk-export/parquet/run-file-writer.ts";
import type { PayloadStore } from "../../../../src/bulk-export/parquet/stored-texts.ts";
import { packRuns, type RunValues } from "../../../support/columnar-runs.ts";
import { PROJECT, WORKSPACE } from "./generated-runs.ts";

const LIMITS: RunFileOptions["limits"] = {
  rows_per_file: 100_000,
  bytes_per_file: 1e9,
  objects_per_file: 1000,
  rows_per_group: 20_000,
  bytes_per_group: 1e8,
  part_bytes: 1_000_000,
};

export type Written = { file: Uint8Array; parts: Uint8Array[]; written: WrittenFile | null };

type WriteOptions = Partial<Omit<RunFileOptions, "columns" | "limits">> & {
  fields?: readonly string[];
  limits?: Partial<RunFileOptions["limits"]>;
  /** Number of runs in one batch. */
  batch?: number;
};

/** Writes runs until the file is full. */
export async function writeRuns(
  runs: readonly RunValues[],
  { fields, limits, batch = 50, ...options }: WriteOptions = {},
): Promise<Written> {
  const parts: Uint8Array[] = [];
  const writer = new RunFileWriter({
    workspaceId: WORKSPACE,
    projectId: PROJECT,
    version: "v1",
    compression: "none",
    payloads: payloadStore({}),
    columns: chosenColumns(fields ?? null),
    limits: { ...LIMITS, ...limits },
    write: async (part) => {
      parts.push(part);
    },
    ...options,
  });
  for (let from = 0; from < runs.length && !writer.isFull; from += batch) {
    const some = runs.slice(from, from + batch);
    // The range is surrounded by runs of another shard.
    const around = packRuns([...runs.slice(0, 1), ...some, ...runs.slice(0, 1)]);
    await writer.add({ runs: around, from: 1, to: some.length + 1 });
  }
  const written = await writer.finish();
  return { file: Buffer.concat(parts), parts, written };
}

/** Returns a store of payloads, keyed by the keys of their objects. */
export function payloadStore(objects: Record<string, string>): PayloadStore {
  return {
    get: async (object) => {
      const text = objects[object];
      if (text === undefined) return null;
      const blob = new Blob([text]);
      return { size: blob.size, body: blob.stream(), text: () => blob.text() };
    },
  };
}

/** Writes the bytes to a file that exists during `use`. */
export async function asFile<T>(bytes: Uint8Array, use: (path: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "run-file-"));
  try {
    const path = join(folder, "runs.parquet");
    await writeFile(path, bytes);
    return await use(path);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
