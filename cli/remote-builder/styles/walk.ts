/** Walks the files below a folder, without those that `.gitignore` names and those that cannot contain classes. */
import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import ignore, { type Ignore } from "ignore";
import { IGNORED_FOLDERS, isBinaryName, isIgnoredName } from "./not-scanned.ts";

type Rules = { folder: string; ignored: Ignore };

export type WalkOptions = {
  /** Whether ignored folders and ignored files are left out. */
  ignores: boolean;
  /** Whether to include files that are ignored themselves, rather than by their folder. */
  withIgnoredFiles?: boolean;
};

export function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Returns whether a folder is ignored or is inside an ignored folder. */
export function isIgnoredFolder(folder: string): boolean {
  const parent = dirname(folder);
  if (parent === folder) return false;
  const isIgnored =
    IGNORED_FOLDERS.has(basename(folder)) || isGitIgnored(`${folder}/`, rulesAbove(folder));
  return isIgnored || isIgnoredFolder(parent);
}

/**
 * Yields the files below a folder. In each folder its own `.gitignore` applies, and those of the folders
 * above. Links are followed, but no folder is visited twice.
 */
export function* walk(root: string, options: WalkOptions): Generator<string> {
  yield* walkFolder(root, options, rulesAbove(root), new Set());
}

function* walkFolder(
  folder: string,
  options: WalkOptions,
  above: readonly Rules[],
  seen: Set<string>,
): Generator<string> {
  const real = realpathSync(folder);
  if (seen.has(real)) return;
  seen.add(real);
  const rules = [...rulesOf(folder), ...above];
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (isFolder(path)) {
      const isLeftOut = IGNORED_FOLDERS.has(name) || isGitIgnored(`${path}/`, rules);
      if (!options.ignores || !isLeftOut) yield* walkFolder(path, options, rules, seen);
      continue;
    }
    const isLeftOut = options.ignores && (isIgnoredName(name) || isGitIgnored(path, rules));
    if (options.withIgnoredFiles !== true && (isLeftOut || isBinaryName(name))) continue;
    yield path;
  }
}

/** Returns the rules of the folders above, the nearest first, which takes precedence. */
function rulesAbove(root: string): Rules[] {
  const parent = dirname(root);
  return parent === root ? [] : [...rulesOf(parent), ...rulesAbove(parent)];
}

function rulesOf(folder: string): Rules[] {
  const file = join(folder, ".gitignore");
  if (!existsSync(file)) return [];
  return [{ folder, ignored: ignore().add(readFileSync(file, "utf8")) }];
}

function isGitIgnored(path: string, rules: readonly Rules[]): boolean {
  for (const { folder, ignored } of rules) {
    const end = path.endsWith("/") ? "/" : "";
    const { ignored: isIgnored, unignored } = ignored.test(relative(folder, path) + end);
    if (isIgnored || unignored) return isIgnored;
  }
  return false;
}
