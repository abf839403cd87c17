import { readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { CliError } from "../cli-error.ts";
import { holdFile } from "./exclusive-file.ts";
import { makePrivateFolder } from "./private-folder.ts";
import { sqlite } from "./sqlite.ts";
import { sqliteFailure, stateFailure } from "./state-failure.ts";
import { killWorkerd } from "./workerd-process.ts";

export type StateDir = {
  path: string;
  /** The folder in which Miniflare keeps D1, R2 and objects; `wrangler --persist-to <state dir>` uses the same. */
  persistPath: string;
  buildDir: string;
  /** The file with the port of the bucket for exports. */
  s3PortFile: string;
  /** The file with the process id of the running workerd, for another process that has to end it. */
  workerdPidFile: string;
  announce: (url: string) => void;
  release: () => void;
};

type Owner = { pid: number; url?: string };

/**
 * Locks a state directory for this process, or throws a `CliError` that names the process that has it. Ends a
 * workerd that an earlier owner left behind. The lock is SQLite's file lock, which the system releases when
 * the process dies for any reason. Node before 22.13 has no SQLite; a file with the process id is used there.
 */
export function acquireStateDir(stateDir: string): StateDir {
  const path = resolve(stateDir);
  try {
    return acquire(path);
  } catch (error) {
    throw stateFailure(error, path);
  }
}

function acquire(path: string): StateDir {
  const runDir = join(path, "run");
  const ownerFile = join(runDir, "owner.json");
  makePrivateFolder(runDir);
  const lock = lockFile(join(runDir, "lock"));
  if (lock === undefined) throw new CliError(describeOwner(path, ownerFile));

  for (const name of readdirSync(runDir).filter((file) => file.endsWith(".pid"))) {
    const pidFile = join(runDir, name);
    killWorkerd(Number(readFileSync(pidFile, "utf8")));
    rmSync(pidFile, { force: true });
  }
  const writeOwner = (owner: Owner): void => writeFileSync(ownerFile, JSON.stringify(owner));
  writeOwner({ pid: process.pid });
  const workerdPidFile = join(runDir, `workerd-${process.pid}.pid`);
  return {
    path,
    persistPath: join(path, "v3"),
    buildDir: join(path, "build"),
    s3PortFile: join(path, "s3-port"),
    workerdPidFile,
    announce: (url) => writeOwner({ pid: process.pid, url }),
    release: () => {
      rmSync(ownerFile, { force: true });
      rmSync(workerdPidFile, { force: true });
      lock.close();
    },
  };
}

/** Takes the lock; returns undefined when another process has it. */
function lockFile(file: string): { close: () => void } | undefined {
  if (sqlite === undefined) return holdFile(`${file}-holder`);
  let database: DatabaseSync | undefined;
  try {
    database = new sqlite.DatabaseSync(file, { timeout: 0 });
    database.exec("BEGIN EXCLUSIVE");
    return database;
  } catch (error) {
    database?.close();
    if ((error as Error).message.includes("locked")) return undefined;
    throw sqliteFailure(error, file, "delete it and start again");
  }
}

function describeOwner(path: string, ownerFile: string): string {
  let owner = "another process";
  try {
    const { pid, url } = JSON.parse(readFileSync(ownerFile, "utf8")) as Owner;
    owner = `process ${pid}${url === undefined ? "" : `, which serves ${url}`}`;
  } catch {
    // The owner has the lock and has not written its process id yet.
  }
  return `the state directory ${path} is in use by ${owner}; stop it, or give another with --state`;
}
