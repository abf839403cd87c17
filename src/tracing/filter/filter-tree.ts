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

/** is_root and execution_order are tests of parent_run_id here; has(tags, x) is eq. */
export type Predicate = { kind: "predicate"; field: FieldName; test: Test };

/** A filter whose names and types are checked. Plain data. */
export type Filter =
  | { kind: "and" | "or"; operands: Filter[] }
  | { kind: "not"; operand: Filter }
  | Predicate
  /** Each of these, in lower case, somewhere in the run's texts. */
  | { kind: "words"; words: string[] }
  /** All of these are among the run's metadata. */
  | { kind: "metadata"; leaves: Leaf[] }
  /** This key, or one below it. */
  | { kind: "metadata key"; key: string };
