import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import enhancedResolve from "enhanced-resolve";
import { isFile } from "./module-export.ts";
import { isInstalled } from "./workerd-build.ts";

const SOURCE = /\.[cm]?[jt]sx?$/;
const IMPORT = /(?:from|import)\s*\(?\s*["']([^"'\n]+)["']/g;
const ENDINGS = [".ts", ".mts", ".tsx", ".d.ts"];

/** Resolves an import other than a relative path as TypeScript does. Returns null when there is no file to read. */
type Resolve = (folder: string, specifier: string) => string | null;

/**
 * Adds the files that sources import by relative paths, by the paths of `tsconfig.json`, or from linked
 * packages. This includes files with types only, which no bundle contains. Installed packages are left out.
 */
export function withTypeOnlyImports(sources: string[], tsconfig?: string): string[] {
  const seen = new Set(sources);
  const resolveNamed = namedBy(tsconfig);
  for (const file of seen) {
    if (!SOURCE.test(file)) continue;
    for (const [, specifier = ""] of readFileSync(file, "utf8").matchAll(IMPORT)) {
      const isRelative = /^\.{1,2}\//.test(specifier);
      const find = isRelative ? relativeTo : resolveNamed;
      const found = find(dirname(file), specifier);
      if (found !== null) seen.add(found);
    }
  }
  return [...seen];
}

function relativeTo(folder: string, specifier: string): string | null {
  const target = resolve(folder, specifier);
  const stem = target.replace(SOURCE, "");
  const candidates = [...ENDINGS, "/index.ts"].map((end) => stem + end);
  return [target, ...candidates].find((path) => isFile(path)) ?? null;
}

/** Returns the resolver of imports other than relative paths. Without a `tsconfig.json` these are packages only. */
function namedBy(tsconfig: string | undefined): Resolve {
  if (tsconfig === undefined || !isFile(tsconfig)) return () => null;
  const find = enhancedResolve.create.sync({
    tsconfig,
    extensions: ENDINGS,
    extensionAlias: { ".js": [".ts", ".tsx", ".d.ts", ".js"], ".mjs": [".mts", ".d.mts", ".mjs"] },
    conditionNames: ["types", "import"],
  });
  return (folder, specifier) => {
    try {
      const found = find(folder, specifier);
      return found === false || isInstalled(found) || !isFile(found) ? null : found;
    } catch {
      // Node's own modules and missing files are skipped; the compiler reports the latter.
      return null;
    }
  };
}
