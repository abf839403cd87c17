/**
 * Which files Tailwind looks for classes in: those below the project's folder that could have some, and those that
 * `@source` names.
 */
import { basename, isAbsolute, join, relative, resolve } from "node:path";
import picomatch from "picomatch";
import { isFolder, isIgnoredFolder, walk } from "./walk.ts";

/** As Tailwind's compiler gives it: a pattern from an absolute path of a folder on. */
export type Source = { base: string; pattern: string; negated: boolean };

/** What has no `*` is in the folder. An empty pattern is all that is below it. */
type Place = { folder: string; pattern: string };

/**
 * Absolute paths, sorted. Of sources about the same file the last one decides. A place that is not there has no
 * files, and is no error.
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
    // Whoever names a folder that is always left out means it.
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

/** `{a,b}.html` is two patterns: each may be a folder. Ranges, as `{1..3}`, stay for the matcher. */
function expandBraces(pattern: string): string[] {
  const found = /\{([^{},]*(?:,[^{},]*)+)\}/.exec(pattern);
  if (found === null) return [pattern];
  const [all, inside = ""] = found;
  const [before, behind] = [pattern.slice(0, found.index), pattern.slice(found.index + all.length)];
  return inside.split(",").flatMap((part) => expandBraces(before + part + behind));
}
