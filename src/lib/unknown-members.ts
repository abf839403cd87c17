import type { z } from "zod";

/** Members that a schema has no place for: `path` leads to the object that they are in. */
export type UnknownMembers = { path: PropertyKey[]; keys: string[] };

/** Hears of members that have no effect. */
export type NoteUnknown = (members: UnknownMembers) => void;

type Parsed<T> = z.ZodSafeParseResult<T> & { ignored: UnknownMembers[] };

/** A Zod issue, as far as it is read here; unions nest. */
type Issue = { code?: string | undefined; path: PropertyKey[]; [key: string]: unknown };

/** A pass sees everything but what fails inside of a union for other reasons, too. */
const MAX_PASSES = 8;

/**
 * Parses as if the members that strict objects in the schema do not know were not there, and says
 * which they were. Where nothing is unknown this is `schema.safeParse`. Objects that stand beside each
 * other in a union need a required member that tells them apart, or the wrong one may be found to fit.
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

/** The schema, parsing with `parseKnown` where a validator asks it to. */
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

/** The unknown members by the branch that knows the most, among those that would fit without them. */
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

/** A copy, as far as something is removed; the rest is shared. */
function without(value: unknown, { keys, below }: Removal): unknown {
  if (typeof value !== "object" || value === null) return value;
  const copy = Array.isArray(value) ? [...value] : withoutKeys(value, keys);
  for (const [key, removal] of below) {
    if (Object.hasOwn(copy, key)) Reflect.set(copy, key, without(Reflect.get(copy, key), removal));
  }
  return copy;
}

/** Adds up what is kept: far more may go than stays, and deleting is slow. */
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
