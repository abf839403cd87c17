import type { z } from "zod";

/** Members that the schema does not define. `path` leads to the object that contains them. */
export type UnknownMembers = { path: PropertyKey[]; keys: string[] };

/** Receives members that were ignored. */
export type NoteUnknown = (members: UnknownMembers) => void;

type Parsed<T> = z.ZodSafeParseResult<T> & { ignored: UnknownMembers[] };

/** The parts of a Zod issue that are read here. Issues of unions nest. */
type Issue = { code?: string | undefined; path: PropertyKey[]; [key: string]: unknown };

/**
 * Maximum passes. One pass finds all unknown members, except those inside a union that fails for other reasons
 * too.
 */
const MAX_PASSES = 8;

/**
 * Parses the input as if members unknown to the schema's strict objects were absent, and returns those in
 * `ignored`. Without unknown members this equals `schema.safeParse`. Alternatives of a union need a required
 * member that tells them apart; otherwise the wrong alternative may be found to match.
 */
export function parseKnown<S extends z.ZodType>(schema: S, input: unknown): Parsed<z.output<S>> {
  const ignored: UnknownMembers[] = [];
  let known = input;
  for (let pass = 1; ; pass += 1) {
    const result = schema.safeParse(known);
    if (result.success || pass === MAX_PASSES) return { ...result, ignored };
    const unknown = findUnknown(result.error.issues, []);
    if (unknown.length === 0) return { ...result, ignored };
    known = without(known, removalOf(unknown));
    for (const members of unknown) ignored.push(members);
  }
}

/** Returns the schema with `parseKnown` as its `safeParseAsync`, for validators that call it. */
export function tolerant<S extends z.ZodType>(schema: S): S {
  const safeParseAsync = (input: unknown) => Promise.resolve(parseKnown(schema, input));
  return Object.create(schema, { safeParseAsync: { value: safeParseAsync } }) as S;
}

function findUnknown(issues: readonly unknown[], parent: PropertyKey[]): UnknownMembers[] {
  return issues.filter(isIssue).flatMap((issue) => {
    const path = [...parent, ...issue.path];
    if (issue.code === "unrecognized_keys") return [{ path, keys: issue["keys"] as string[] }];
    return issue.code === "invalid_union" ? ofClosestBranch(issue["errors"], path) : [];
  });
}

/** Returns the unknown members of the branch with the fewest, among branches that would match without them. */
function ofClosestBranch(errors: unknown, path: PropertyKey[]): UnknownMembers[] {
  let closest: UnknownMembers[] = [];
  let fewest = Infinity;
  for (const branch of Array.isArray(errors) ? errors : []) {
    const issues = Array.isArray(branch) ? branch.filter(isIssue) : [];
    if (issues.length === 0 || !issues.every(isOnlyUnknown)) continue;
    const unknown = findUnknown(issues, path);
    const count = unknown.reduce((sum, { keys }) => sum + keys.length, 0);
    if (count >= fewest) continue;
    closest = unknown;
    fewest = count;
  }
  return closest;
}

function isOnlyUnknown(issue: Issue): boolean {
  if (issue.code === "unrecognized_keys") return true;
  return issue.code === "invalid_union" && ofClosestBranch(issue["errors"], []).length > 0;
}

type Removal = { keys: string[]; below: Map<PropertyKey, Removal> };

function removalOf(unknown: readonly UnknownMembers[]): Removal {
  const root: Removal = { keys: [], below: new Map() };
  for (const { path, keys } of unknown) {
    let removal = root;
    for (const part of path) {
      const next = removal.below.get(part) ?? { keys: [], below: new Map() };
      removal.below.set(part, next);
      removal = next;
    }
    removal.keys = removal.keys.length === 0 ? keys : removal.keys.concat(keys);
  }
  return root;
}

/** Copies the objects and lists from which something is removed; all others are shared with the original. */
function without(value: unknown, { keys, below }: Removal): unknown {
  if (typeof value !== "object" || value === null) return value;
  const copy = Array.isArray(value) ? [...value] : withoutKeys(value, keys);
  for (const [key, removal] of below) {
    if (Object.hasOwn(copy, key)) Reflect.set(copy, key, without(Reflect.get(copy, key), removal));
  }
  return copy;
}

/** Builds a new object from the kept keys. Often far more keys are removed than kept, and deleting is slow. */
function withoutKeys(value: object, keys: readonly string[]): object {
  if (keys.length === 0) return { ...value };
  const removed = new Set(keys);
  const kept = Object.keys(value).filter((key) => !removed.has(key));
  return Object.fromEntries(kept.map((key) => [key, Reflect.get(value, key)]));
}

function isIssue(value: unknown): value is Issue {
  return (
    typeof value === "object" && value !== null && "path" in value && Array.isArray(value.path)
  );
}
