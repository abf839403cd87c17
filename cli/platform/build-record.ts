import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";

/** A result that can be written as JSON, and every file and folder that it depends on. */
export type Recorded<T> = { result: T; inputs: string[] };

type BuildRecord = {
  key: string;
  /** By path: what tells whether the file, or the names in the folder, are those of that time. */
  stamps: Record<string, string>;
  result: unknown;
};

/**
 * Returns what `build` gave at another time, or else builds and records the result in `recordFile`. It is
 * built again when the key, an input or an output differs from what it was; a folder differs when
 * other names are in it. The record is readable by its owner only: a result may hold secrets.
 */
export async function unlessUnchanged<T>(options: {
  recordFile: string;
  /** What the result depends on besides files; anything that can be written as JSON. */
  key: unknown;
  /** The files that `build` writes. */
  outputs: string[];
  build: () => Promise<Recorded<T>>;
}): Promise<T> {
  const { recordFile, outputs } = options;
  const key = digest(JSON.stringify(options.key));
  const record = readRecord(recordFile);
  if (record?.key === key && isCurrent(record)) return record.result as T;
  rmSync(recordFile, { force: true });
  const startedAt = Date.now();
  const { result, inputs } = await options.build();
  const stamps: Record<string, string> = {};
  for (const path of [...inputs, ...outputs]) stamps[path] = stampOf(path);
  // An input that was changed while it was built may have been read before.
  if (inputs.some((path) => changedAt(path) >= startedAt)) return result;
  const written: BuildRecord = { key, stamps, result };
  writeFileSync(recordFile, JSON.stringify(written), { mode: 0o600 });
  return result;
}

/** Undefined where there is none, or none that can be read: then all is built. */
function readRecord(file: string): BuildRecord | undefined {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as BuildRecord;
  } catch {
    return undefined;
  }
}

function isCurrent({ stamps }: BuildRecord): boolean {
  return Object.entries(stamps).every(([path, stamp]) => stampOf(path) === stamp);
}

/** Packages are installed with modification times of long ago; the time of the change is always real. */
function stampOf(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return "";
  if (stats.isDirectory()) return digest(JSON.stringify(readdirSync(path).toSorted()));
  return `${stats.size} ${stats.mtimeMs} ${stats.ctimeMs}`;
}

function changedAt(path: string): number {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats === undefined || stats.isDirectory() ? 0 : stats.ctimeMs;
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
