type Row = Record<string, unknown>;

/** Prints a command's result on standard output, for programs to read. */
export function printJson(result: unknown): void {
  console.log(JSON.stringify(result));
}

/** Formats rows as a table, with the names of the columns as a header. */
export function formatTable(rows: readonly Record<string, string>[]): string {
  const columns = Object.keys(rows[0] ?? {});
  const header = Object.fromEntries(columns.map((column) => [column, column]));
  const lines = [header, ...rows];
  const widths = new Map(
    columns.map((column) => [
      column,
      Math.max(...lines.map((line) => (line[column] ?? "").length)),
    ]),
  );
  return lines
    .map((line) =>
      columns
        .map((column) => (line[column] ?? "").padEnd(widths.get(column) ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** Formats a single row as one line for each field, and several rows as one line each. */
export function formatRows(result: Row | readonly Row[]): string {
  if (Array.isArray(result)) return result.map(formatRow).join("\n");
  const entries = Object.entries(result);
  const width = Math.max(...entries.map(([name]) => name.length));
  return entries.map((entry) => `${entry[0].padEnd(width)}  ${formatValue(entry)}`).join("\n");
}

function formatRow(row: Row): string {
  return Object.entries(row).map(formatValue).join("  ");
}

function formatValue([name, value]: [string, unknown]): string {
  if (value === null || value === "") return "-";
  if (name.endsWith("_at") && typeof value === "number") return new Date(value).toISOString();
  return typeof value === "string" ? value : JSON.stringify(value);
}
