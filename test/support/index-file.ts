import { readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** Returns the file of a local platform's D1 database. It is in WAL mode, so other processes may write to it, too. */
export function indexFileOf(stateDir: string): string {
  const folder = join(stateDir, "v3", "d1");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".sqlite"))
    .map((name) => join(folder, name));
  const file = files.find((name) => hasThreads(name));
  if (file === undefined) throw new Error(`no database below ${folder} has the table threads`);
  return file;
}

function hasThreads(file: string): boolean {
  const database = new DatabaseSync(file);
  try {
    const table = database.prepare("SELECT 1 FROM sqlite_master WHERE name = 'threads'");
    return table.get() !== undefined;
  } finally {
    database.close();
  }
}
