import { CliError } from "../cli-error.ts";

/** The reason why a file of a state folder cannot be used, and the remedy, by the system's error code. */
const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full; free some space",
  EDQUOT: "the disk quota is used up; free some space",
  EACCES: "access is denied; give this user the right to write there",
  EPERM: "access is denied; give this user the right to write there",
  EROFS: "the file system is read-only; make it writable",
  ENOTDIR: "a part of the path is a file; remove it",
  EISDIR: "it is a folder where a file is expected; remove it",
  EEXIST: "it is a file where a folder is expected; remove it",
  EIO: "the disk cannot be read or written; check it",
};

/** The same by the primary result codes of SQLite. */
const SQLITE_REASONS: Readonly<Record<number, string>> = {
  8: "it is read-only; make it writable",
  10: "the disk cannot be read or written; check it",
  13: "the disk is full; free some space",
  14: "it cannot be opened; make it and its folder writable",
};

/** SQLITE_CORRUPT and SQLITE_NOTADB. */
const DAMAGED = new Set([11, 26]);

/**
 * Converts a file system error into a `CliError` with one line that names the file of a state folder and the
 * remedy. Other errors are returned unchanged.
 */
export function stateFailure(error: unknown, stateDir: string): unknown {
  if (!(error instanceof Error) || error instanceof CliError) return error;
  const { code, path = stateDir } = error as NodeJS.ErrnoException;
  const reason = code === undefined ? undefined : REASONS[code];
  if (reason === undefined) return error;
  return new CliError(`${path} cannot be used: ${reason}, or give another folder with --state`);
}

/** Does the same for an error of SQLite; `remedy` is the advice for a damaged file. */
export function sqliteFailure(error: unknown, file: string, remedy: string): unknown {
  if (!(error instanceof Error) || !("errcode" in error)) return error;
  const code = Number(error.errcode) & 0xff;
  if (DAMAGED.has(code)) return damagedFile(file, error.message, remedy);
  const reason = SQLITE_REASONS[code];
  if (reason === undefined) return error;
  return new CliError(`${file} cannot be used: ${reason}, or give another folder with --state`);
}

/** Returns the error for a damaged file; `finding` is SQLite's message. */
export function damagedFile(file: string, finding: string, remedy: string): CliError {
  return new CliError(`${file} is damaged (${finding}): ${remedy}`);
}
