import { readFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { Plugin } from "esbuild";

const IMPORT_MAP = /[\\/]@langchain[\\/]core[\\/]dist[\\/]load[\\/]import_map\.js$/;

const IMPORT = /^import \{ ([\w$]+)(?: as ([\w$]+))? \} from "(\.{1,2}\/[^"]+)";$/gm;
const ENTRY = /^(\s*)([\w$]+): \(\) => ([\w$]+)(,?)$/gm;
const EXPORTS = /^export \{(?:[^}]*,)? import_map_exports(?:,[^}]*)? \};$/m;

/** LangChain's module of helpers, which the map itself needs. */
const HELPERS = "../_virtual/";

/**
 * Defers the evaluation of the modules that LangChain's loader of stored objects may name until they are
 * first needed. The loader imports nearly all of `@langchain/core`, and what a project stores needs only a
 * few of its modules.
 */
export function lazyImportMapPlugin(): Plugin {
  return {
    name: "lazy-import-map",
    setup(build) {
      build.onLoad({ filter: IMPORT_MAP }, async ({ path }) => {
        const contents = lazyImportMap(await readFile(path, "utf8"));
        return contents === null ? null : { contents, loader: "js", resolveDir: dirname(path) };
      });
    },
  };
}

/** Rewrites the map. Returns null when it has an unknown form, as in older versions; it is then left unchanged. */
export function lazyImportMap(source: string): string | null {
  const modules = new Map<string, { exported: string; file: string }>();
  const withoutImports = source.replaceAll(IMPORT, (whole, exported: string, as, file: string) => {
    if (file.startsWith(HELPERS)) return whole;
    modules.set(typeof as === "string" ? as : exported, { exported, file });
    return "";
  });
  const unread = new Set(modules.keys());
  const lazy = withoutImports.replaceAll(ENTRY, (whole, indent, key: string, name: string, end) => {
    const module = modules.get(name);
    if (module === undefined) return whole;
    unread.delete(name);
    // The result is cached, because `require` of an ES module creates a new object on each call.
    const read = `require(${JSON.stringify(module.file)}).${module.exported}`;
    return `${indent}${key}: () => known.${key} ??= ${read}${end}`;
  });
  if (modules.size === 0 || unread.size > 0 || !EXPORTS.test(lazy)) return null;
  return `const known = {};\n${lazy.replace(EXPORTS, "export { import_map_exports };")}`;
}
