import type { NumberColumn, RunColumn, TextColumn } from "../../tracing/model/columnar-runs.ts";
import type { SchemaElement } from "hyparquet-writer";
import type { ExportFormatVersion } from "../../db/bulk-export-schema.ts";

/** The source of a column's values. */
type Source =
  | { kind: "text"; column: TextColumn; json?: boolean; isJsonString?: boolean }
  | { kind: "number"; column: NumberColumn; unit: "count" | "microseconds" | "picodollars" }
  | { kind: "workspace" }
  | { kind: "project" }
  | { kind: "isRoot" }
  /** JSON lists of texts. */
  | { kind: "tags" }
  | { kind: "ancestors" };

export type ExportColumn = {
  name: string;
  source: Source;
  /** Whether every run has a value. */
  required: boolean;
  /** Whether the column has few distinct values, which are stored once per row group in a dictionary. */
  repeats: boolean;
  /** Whether row groups store the column's minimum, maximum and number of missing values. */
  statistics: boolean;
  bloomFilter: boolean;
};

type Traits = Partial<Pick<ExportColumn, "required" | "repeats" | "statistics" | "bloomFilter">>;

const REQUIRED = { required: true };

function column(name: string, source: Source, traits: Traits): ExportColumn {
  return {
    name,
    source,
    required: false,
    repeats: false,
    statistics: true,
    bloomFilter: false,
    ...traits,
  };
}

function text(name: TextColumn, traits: Traits = {}): ExportColumn {
  return column(name, { kind: "text", column: name }, traits);
}

/** A JSON column. It has no statistics: a bound would be a whole document, because part of one is not JSON. */
function json(name: TextColumn, traits: Traits = {}): ExportColumn {
  return column(name, { kind: "text", column: name, json: true }, { statistics: false, ...traits });
}

function time(name: NumberColumn, traits: Traits = {}): ExportColumn {
  return column(name, { kind: "number", column: name, unit: "microseconds" }, traits);
}

function tokens(name: NumberColumn): ExportColumn {
  return column(name, { kind: "number", column: name, unit: "count" }, REQUIRED);
}

function cost(name: NumberColumn): ExportColumn {
  return column(name, { kind: "number", column: name, unit: "picodollars" }, {});
}

/** All columns that can be exported, in the order of the file. */
const EXPORT_COLUMNS: readonly ExportColumn[] = [
  text("id", { ...REQUIRED, bloomFilter: true }),
  column("tenant_id", { kind: "workspace" }, REQUIRED),
  column("session_id", { kind: "project" }, REQUIRED),
  text("trace_id", { ...REQUIRED, bloomFilter: true }),
  text("parent_run_id"),
  column("parent_run_ids", { kind: "ancestors" }, { ...REQUIRED, statistics: false }),
  text("reference_example_id", { repeats: true }),
  text("name", { ...REQUIRED, repeats: true }),
  text("run_type", { ...REQUIRED, repeats: true }),
  time("start_time", REQUIRED),
  time("end_time"),
  text("status", { ...REQUIRED, repeats: true }),
  column("is_root", { kind: "isRoot" }, { ...REQUIRED, statistics: false }),
  text("dotted_order", REQUIRED),
  text("trace_tier", { ...REQUIRED, repeats: true }),
  json("inputs", REQUIRED),
  json("outputs"),
  column(
    "error",
    { kind: "text", column: "error", isJsonString: true },
    { repeats: true, statistics: false },
  ),
  json("extra", REQUIRED),
  json("events", { ...REQUIRED, repeats: true }),
  column("tags", { kind: "tags" }, { ...REQUIRED, repeats: true, statistics: false }),
  json("feedback_stats", { repeats: true }),
  tokens("total_tokens"),
  tokens("prompt_tokens"),
  tokens("completion_tokens"),
  cost("total_cost"),
  cost("prompt_cost"),
  cost("completion_cost"),
  time("first_token_time"),
];

export const EXPORT_FIELDS: readonly string[] = EXPORT_COLUMNS.map(({ name }) => name);

/** Returns the columns with these names in the order of the file; null selects all. */
export function chosenColumns(fields: readonly string[] | null): readonly ExportColumn[] {
  return fields === null
    ? EXPORT_COLUMNS
    : EXPORT_COLUMNS.filter(({ name }) => fields.includes(name));
}

/** Returns the fields of a run that a column needs. */
export function readColumns({ source }: ExportColumn): RunColumn[] {
  switch (source.kind) {
    case "text":
    case "number":
      return [source.column];
    case "isRoot":
      return ["parent_run_id"];
    case "tags":
      return ["tags"];
    case "ancestors":
      return ["dotted_order"];
    default:
      return [];
  }
}

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
/** Spark and related readers support only this unit and milliseconds. */
const TIME = {
  type: "INT64",
  converted_type: "TIMESTAMP_MICROS",
  logical_type: { type: "TIMESTAMP", isAdjustedToUTC: true, unit: "MICROS" },
} as const;
/** Exact costs, which are stored in units of 1e-12 USD. */
const EXACT_COST = {
  type: "INT64",
  converted_type: "DECIMAL",
  precision: 18,
  scale: 12,
  logical_type: { type: "DECIMAL", precision: 18, scale: 12 },
} as const;

/** Returns the schema elements of one column, below the root. */
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

/** Returns the file's schema, and for each column the path and the schema element of its values. */
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
