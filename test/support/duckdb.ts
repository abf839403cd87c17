import {
  DuckDBDecimalValue,
  DuckDBInstance,
  DuckDBListValue,
  DuckDBTimestampTZValue,
  DuckDBTimestampValue,
  DuckDBUUIDValue,
  type DuckDBValue,
} from "@duckdb/node-api";

export type Row = Record<string, unknown>;

const PLACE = "filename = true, file_row_number = true";
const NO_HIVE = ", hive_partitioning = false";

type ReadOptions = {
  /** Whether to read columns from the names of the folders, too. */
  hivePartitioning?: boolean;
  /** Columns in SQL; all columns by default. */
  select?: string;
  where?: string;
  /** Order in SQL; by file name and row number by default. */
  orderBy?: string;
};

/**
 * Reads the rows of Parquet files (paths, or a glob) with DuckDB. Values are text, numbers (as text where a double
 * would lose digits), booleans, lists, null, and times as ISO 8601 with microseconds.
 */
export async function readParquet(
  files: string | readonly string[],
  options: ReadOptions = {},
): Promise<Row[]> {
  const { where = "true", hivePartitioning = false } = options;
  const orderBy = options.orderBy ?? "filename, file_row_number";
  const select = options.select ?? "* EXCLUDE (filename, file_row_number)";
  const from = source(files, `, ${PLACE}, hive_partitioning = ${hivePartitioning}`);
  return query(`SELECT ${select} FROM ${from} WHERE ${where} ORDER BY ${orderBy}`);
}

/** Returns DuckDB's types of the files' columns, in their order. */
export async function parquetColumns(
  files: string | readonly string[],
): Promise<Record<string, string>> {
  const rows = await query(`DESCRIBE SELECT * FROM ${source(files, NO_HIVE)}`);
  return Object.fromEntries(
    rows.map(({ column_name, column_type }) => [String(column_name), String(column_type)]),
  );
}

function source(files: string | readonly string[], options: string): string {
  const list = [files].flat().map((file) => `'${file.replaceAll("'", "''")}'`);
  return `read_parquet([${list.join(", ")}]${options})`;
}

async function query(sql: string): Promise<Row[]> {
  // DuckDB must not use the network, not even for extensions.
  const instance = await DuckDBInstance.create(":memory:", {
    threads: "1",
    autoinstall_known_extensions: "false",
  });
  const connection = await instance.connect();
  try {
    await connection.run("SET TimeZone = 'UTC'");
    const reader = await connection.runAndReadAll(sql);
    return reader
      .getRowObjects()
      .map((row) =>
        Object.fromEntries(Object.entries(row).map(([name, value]) => [name, plain(value)])),
      );
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

function plain(value: DuckDBValue): unknown {
  if (typeof value === "bigint") {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : String(value);
  }
  if (value instanceof DuckDBListValue) return value.items.map(plain);
  if (value instanceof DuckDBTimestampTZValue || value instanceof DuckDBTimestampValue) {
    return isoMicros(value.micros);
  }
  if (value instanceof DuckDBDecimalValue || value instanceof DuckDBUUIDValue) {
    return value.toString();
  }
  return value;
}

function isoMicros(micros: bigint): string {
  const seconds = new Date(Number(micros / 1_000_000n) * 1000).toISOString().slice(0, 19);
  return `${seconds}.${String(micros % 1_000_000n).padStart(6, "0")}Z`;
}
