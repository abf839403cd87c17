import type { Leaf } from "../model/run-write.ts";
import type { Filter, Predicate, Test } from "./filter-tree.ts";

/**
 * The term of a failed run. A term is a text that states one fact about a run: its name, that it failed, a
 * tag that it has. A store keeps the terms of each group of some hundred runs, so that a filter can skip
 * the groups in which no run can match.
 */
export const FAILED = "failed";

/** The fields whose values are terms. */
const TERM_FIELDS = [
  "trace_id",
  "parent_run_id",
  "thread_id",
  "reference_example_id",
  "name",
] as const;

export type TermField = (typeof TERM_FIELDS)[number];

/** Maximum number of values of one list that are searched for. */
export const MAX_ALTERNATIVES = 200;

export function fieldTerm(field: TermField, value: string): string {
  return `${field} ${value}`;
}

function tagTerm(tag: string): string {
  return `tag ${tag}`;
}

function metadataTerm(leaf: Leaf): string {
  return `metadata ${JSON.stringify(leaf)}`;
}

type TermRun = Record<TermField, string | null> & {
  status: string;
  tags: string | null;
  metadata: string | null;
};

/** Returns every term of a row of `runs`. */
export function termsOfRun(run: TermRun): string[] {
  const terms: string[] = run.status === "error" ? [FAILED] : [];
  for (const field of TERM_FIELDS) {
    const value = run[field];
    if (value !== null) terms.push(fieldTerm(field, value));
  }
  if (run.tags !== null) terms.push(...(JSON.parse(run.tags) as string[]).map(tagTerm));
  if (run.metadata !== null) terms.push(...(JSON.parse(run.metadata) as Leaf[]).map(metadataTerm));
  return terms;
}

/** Returns lists of terms; a run that matches the filter has at least one term of each list. */
export function requiredTerms(filter: Filter): string[][] {
  switch (filter.kind) {
    case "and": {
      const pairs = filter.operands.filter(isMetadataPredicate);
      const others = filter.operands.filter((operand) => !isMetadataPredicate(operand));
      return [...pairTerms(pairs), ...others.flatMap(requiredTerms)];
    }
    case "predicate":
      return fieldTerms(filter);
    case "metadata":
      return filter.leaves.map((leaf) => [metadataTerm(leaf)]);
    case "or":
    case "not":
    case "words":
    case "metadata key":
      return [];
  }
}

/** Returns ids of which a run that matches the filter must have one; null if it may have any id. */
export function requiredIds(filter: Filter): readonly string[] | null {
  const operands = filter.kind === "and" ? filter.operands : [filter];
  for (const operand of operands) {
    if (operand.kind !== "predicate" || operand.field !== "id") continue;
    const values = namedValues(operand.test);
    if (values !== null) return values;
  }
  return null;
}

function fieldTerms({ field, test }: Predicate): string[][] {
  const values = namedValues(test);
  if (values === null) return [];
  if (field === "status") return values.every((value) => value === "error") ? [[FAILED]] : [];
  if (field === "tags") return [values.map(tagTerm)];
  const known = TERM_FIELDS.find((name) => name === field);
  return known === undefined ? [] : [values.map((value) => fieldTerm(known, value))];
}

/** Returns the terms of predicates that hold for the same pair: see entry-condition.ts. */
function pairTerms(predicates: readonly Predicate[]): string[][] {
  const [one, two] = predicates;
  if (one === undefined || two === undefined || predicates.length !== 2) return [];
  const [key, value] = one.field === "metadata_key" ? [one, two] : [two, one];
  if (key.field !== "metadata_key" || value.field !== "metadata_value") return [];
  const keys = namedValues(key.test);
  const values = namedValues(value.test);
  if (keys === null || values === null || keys.length * values.length > MAX_ALTERNATIVES) return [];
  return [keys.flatMap((path) => values.map((text) => metadataTerm([path, text])))];
}

function isMetadataPredicate(filter: Filter): filter is Predicate {
  if (filter.kind !== "predicate") return false;
  return filter.field === "metadata_key" || filter.field === "metadata_value";
}

/** Returns the texts of which the test asks for one; null if it does not name them. */
function namedValues(test: Test): string[] | null {
  const values = test.op === "in" ? test.values : test.op === "eq" ? [test.value] : null;
  if (values === null || values.length > MAX_ALTERNATIVES) return null;
  const texts = values.filter((value) => typeof value === "string");
  return texts.length === values.length ? texts : null;
}
