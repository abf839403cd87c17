import { type DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";

/** DuckDB, with one thread, and with the rows of Parquet files in an in-memory table. */
export class DuckDbTable {
  readonly #instance: DuckDBInstance;
  readonly #connection: DuckDBConnection;
  readonly rows: number;

  private constructor(instance: DuckDBInstance, connection: DuckDBConnection, rows: number) {
    this.#instance = instance;
    this.#connection = connection;
    this.rows = rows;
  }

  /** Reads files into a new table; `files` is a path or a glob. */
  static async of(files: string): Promise<DuckDbTable> {
    const instance = await DuckDBInstance.create(":memory:", {
      threads: "1",
      autoinstall_known_extensions: "false",
    });
    const connection = await instance.connect();
    await connection.run(`CREATE TABLE runs AS SELECT * FROM read_parquet('${files}')`);
    const counted = await connection.runAndReadAll("SELECT count(*) FROM runs");
    return new DuckDbTable(instance, connection, Number(counted.getRows()[0]?.[0]));
  }

  /** Writes all rows into one file. Returns the wall-clock time and the CPU time, in milliseconds. */
  async copyTo(file: string, compression: string): Promise<{ ms: number; cpuMs: number }> {
    const startedAt = performance.now();
    const cpuBefore = process.cpuUsage();
    await this.#connection.run(
      `COPY (SELECT * FROM runs) TO '${file}' (FORMAT parquet, COMPRESSION ${compression})`,
    );
    const { user, system } = process.cpuUsage(cpuBefore);
    return { ms: performance.now() - startedAt, cpuMs: (user + system) / 1000 };
  }

  async stop(): Promise<void> {
    this.#connection.closeSync();
    this.#instance.closeSync();
  }
}
