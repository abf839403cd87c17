/**
 * Determines the files in which Tailwind looks for classes: those below the project's folder that could
 * contain some, and those that `@source` names.
 */
import { basename, isAbsolute, join, relative, resolve } from "node:path";
import picomatch from "picomatch";
import { isFolder, isIgnoredFolder, walk } from "./walk.ts";

/** A source as Tailwind's compiler passes it: a pattern relative to the absolute path of a folder. */
export type Source = { base: string; pattern: string; negated: boolean };

/** A folder and a pattern below it. `folder` contains no `*`; an empty pattern matches everything below it. */
type Place = { folder: string; pattern: string };

/**
 * Returns the absolute paths of all files, sorted. When several sources match a file, the last one decides. A
 * source that does not exist matches no files and is not an error.
 */
export function sourceFiles(sources: readonly Source[]): string[] {
  const found = new Set<string>();
  for (const { base, pattern, negated } of sources) {
    for (const expanded of expandBraces(pattern)) {
      const place = placeOf(base, expanded);
      if (negated) {
        const excludes = excluding(place);
        for (const file of found) if (excludes(file)) found.delete(file);
      } else {
        for (const file of filesAt(place)) found.add(file);
      }
    }
  }
  return [...found].toSorted();
}

function filesAt({ folder, pattern }: Place): string[] {
  if (!isFolder(folder)) return [];
  if (pattern === "") {
    // A source that names an ignored folder explicitly includes it.
    return [...walk(folder, { ignores: !isIgnoredFolder(folder) })];
  }
  const matches = picomatch(pattern, { dot: true });
  const isDeep = pattern.includes("**");
  const files = [...walk(folder, { ignores: isDeep, withIgnoredFiles: true })];
  return files.filter((file) => matches(relative(folder, file)));
}

function excluding({ folder, pattern }: Place): (file: string) => boolean {
  const matches =
    pattern === "" ? () => true : picomatch([pattern, `${pattern}/**`], { dot: true });
  return (file) => file.startsWith(`${folder}/`) && matches(relative(folder, file));
}

function placeOf(base: string, pattern: string): Place {
  const names = pattern.split("/");
  const firstWild = names.findIndex((name) => name.includes("*"));
  const fixed = firstWild === -1 ? names : names.slice(0, firstWild);
  const path = resolve(base, isAbsolute(pattern) ? "/" : "", fixed.filter(Boolean).join("/"));
  const rest = firstWild === -1 ? "" : names.slice(firstWild).join("/");
  if (rest !== "") return { folder: path, pattern: rest === "**/*" ? "" : rest };
  return isFolder(path)
    ? { folder: path, pattern: "" }
    : { folder: join(path, ".."), pattern: basename(path) };
}

/**
 * Expands `{a,b}.html` into two patterns, because each may be a folder. Ranges such as `{1..3}` are left to
 * the matcher.
 */
function expandBraces(pattern: string): string[] {
  const found = /\{([^{},]*(?:,[^{},]*)+)\}/.exec(pattern);
  if (found === null) return [pattern];
  const [all, inside = ""] = found;
  const [before, behind] = [pattern.slice(0, found.index), pattern.slice(found.index + all.length)];
  return inside.split(",").flatMap((part) => expandBraces(before + part + behind));
}
