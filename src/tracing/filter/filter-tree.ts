import type { Leaf } from "../model/run-write.ts";
import type { FieldName } from "./fields.ts";

/** A number is in the unit of the field's column; booleans are 0 and 1. */
export type Value = string | number;

export type Test =
  | { op: "eq" | "neq"; value: Value | null }
  | { op: "gt" | "gte" | "lt" | "lte"; value: number }
  | { op: "in"; values: Value[] }
  | { op: "like" | "notlike"; pattern: string }
  | { op: "contains"; text: string };

/** A test of one field. is_root and execution_order become tests of parent_run_id; has(tags, x) becomes eq. */
export type Predicate = { kind: "predicate"; field: FieldName; test: Test };

/** A filter whose names and types are checked. It is plain data. */
export type Filter =
  | { kind: "and" | "or"; operands: Filter[] }
  | { kind: "not"; operand: Filter }
  | Predicate
  /** Each of these lower-case words occurs somewhere in the run's texts. */
  | { kind: "words"; words: string[] }
  /** All of these pairs are in the run's metadata. */
  | { kind: "metadata"; leaves: Leaf[] }
  /** The run's metadata has this key, or a key below it. */
  | { kind: "metadata key"; key: string };
