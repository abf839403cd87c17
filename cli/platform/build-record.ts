import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";

/** A result that can be serialised as JSON, and every file and folder that it depends on. */
export type Recorded<T> = { result: T; inputs: string[] };

type BuildRecord = {
  key: string;
  /** Fingerprints by path, which show whether a file, or the names in a folder, have changed. */
  stamps: Record<string, string>;
  result: unknown;
};

/**
 * Returns the recorded result of an earlier `build`, or else builds and records the result in `recordFile`.
 * It builds again when the key, an input or an output has changed; a folder has changed when its names have.
 * The record is readable by its owner only, because a result may contain secrets.
 */
export async function unlessUnchanged<T>(options: {
  recordFile: string;
  /** Everything that the result depends on besides files; any value that can be serialised as JSON. */
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
  // When an input was changed during the build, an older version of it may have been read, so nothing is recorded.
  if (inputs.some((path) => changedAt(path) >= startedAt)) return result;
  const written: BuildRecord = { key, stamps, result };
  writeFileSync(recordFile, JSON.stringify(written), { mode: 0o600 });
  return result;
}

/** Returns undefined when there is no record, or it cannot be read; everything is then built. */
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

/**
 * Returns the fingerprint of a file or folder. It includes the change time: packages are installed with old
 * modification times, but the change time is always real.
 */
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
