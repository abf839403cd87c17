import type { SchemaElement } from "hyparquet-writer";
import type { ExportFormatVersion } from "../../db/bulk-export-schema.ts";
import type { ExportColumn } from "./columns.ts";

const TEXT = {
  type: "BYTE_ARRAY",
  converted_type: "UTF8",
  logical_type: { type: "STRING" },
} as const;
const JSON_TEXT = {
  type: "BYTE_ARRAY",
  converted_type: "JSON",
  logical_type: { type: "JSON" },
} as const;
/** Spark and its relatives read no other unit but this and milliseconds. */
const TIME = {
  type: "INT64",
  converted_type: "TIMESTAMP_MICROS",
  logical_type: { type: "TIMESTAMP", isAdjustedToUTC: true, unit: "MICROS" },
} as const;
/** Exact: costs are kept in units of 1e-12 USD. */
const EXACT_COST = {
  type: "INT64",
  converted_type: "DECIMAL",
  precision: 18,
  scale: 12,
  logical_type: { type: "DECIMAL", precision: 18, scale: 12 },
} as const;

/** The elements below the root for one column. */
function columnElements(column: ExportColumn, version: ExportFormatVersion): SchemaElement[] {
  const { name, source } = column;
  const repetition_type = column.required ? "REQUIRED" : "OPTIONAL";
  const one = (type: Partial<SchemaElement>): SchemaElement[] => [
    { name, repetition_type, ...type },
  ];
  switch (source.kind) {
    case "tags":
    case "ancestors":
      if (version === "v1") return one(TEXT);
      return [
        {
          name,
          repetition_type,
          num_children: 1,
          converted_type: "LIST",
          logical_type: { type: "LIST" },
        },
        { name: "list", repetition_type: "REPEATED", num_children: 1 },
        { name: "element", repetition_type: "REQUIRED", ...TEXT },
      ];
    case "isRoot":
      return one({ type: "BOOLEAN" });
    case "number":
      if (source.unit === "microseconds") return one(TIME);
      if (source.unit === "count") return one({ type: "INT64" });
      return one(version === "v1" ? { type: "DOUBLE" } : EXACT_COST);
    case "text":
      return one(source.json === true && version === "v2_beta" ? JSON_TEXT : TEXT);
    default:
      return one(TEXT);
  }
}

/** The file's schema, and for each column the path and the element of its values. */
export function fileSchema(
  columns: readonly ExportColumn[],
  version: ExportFormatVersion,
): { schema: SchemaElement[]; leaves: { path: string[]; element: SchemaElement }[] } {
  const elements = columns.map((column) => columnElements(column, version));
  const leaves = elements.map((path) => {
    const element = path.at(-1);
    if (element === undefined) throw new Error("a column without a type");
    return { path: path.map(({ name }) => name), element };
  });
  return { schema: [{ name: "run", num_children: columns.length }, ...elements.flat()], leaves };
}
