import { DatabaseSync } from "node:sqlite";
import { DuckDBInstance } from "@duckdb/node-api";

/** The texts of a run that a search covers. */
const COLUMNS = ["name", "error", "tags", "metadata", "input_leaves", "output_leaves"];

/**
 * Returns the milliseconds that DuckDB takes, with one thread and all data in memory, to search for a word in the
 * texts of a shard's runs. DuckDB gets each run of the shard's file `times` times.
 */
export async function searchWithDuckDb(
  shardFile: string,
  { word, times, rounds }: { word: string; times: number; rounds: number },
): Promise<number[]> {
  const instance = await DuckDBInstance.create(":memory:", {
    threads: "1",
    autoinstall_known_extensions: "false",
  });
  const connection = await instance.connect();
  try {
    const columns = COLUMNS.map((name) => `${name} VARCHAR`).join(", ");
    await connection.run(`CREATE TABLE originals (${columns})`);
    const appender = await connection.createAppender("originals");
    for (const row of readRows(shardFile)) {
      for (const value of row) {
        if (value === null) appender.appendNull();
        else appender.appendVarchar(value);
      }
      appender.endRow();
    }
    appender.closeSync();
    await connection.run(`CREATE TABLE runs AS SELECT originals.* FROM range(${times}), originals`);
    const found = COLUMNS.map((name) => `contains(lower(ifnull(${name}, '')), '${word}')`);
    const elapsed: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const startedAt = performance.now();
      await connection.runAndReadAll(`SELECT count(*) FROM runs WHERE ${found.join(" OR ")}`);
      elapsed.push(performance.now() - startedAt);
    }
    return elapsed;
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

function readRows(file: string): (string | null)[][] {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    return database
      .prepare(`SELECT ${COLUMNS.join(", ")} FROM runs`)
      .all()
      .map((row) => COLUMNS.map((name) => (row[name] === null ? null : String(row[name]))));
  } finally {
    database.close();
  }
}
