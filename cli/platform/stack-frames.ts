import { existsSync, readFileSync } from "node:fs";
import { SourceMap, type SourceMapPayload } from "node:module";
import { join, relative, resolve } from "node:path";

/** A location in one of the Worker's modules, in the form that workerd uses in stack traces. */
const FRAME = /(?:file:\/\/\/|(?<![\w./-]))([\w-]+\.js):(\d+):(\d+)/g;

type ModuleMap = { map: SourceMap; folder: string };

/**
 * Returns a function that maps the locations in a stack trace to the source files. The source map of a module
 * is in the first folder that has one. The maps are large, so each is only read when a stack trace needs it.
 */
export function sourceMapper(folders: readonly string[]): (text: string) => string {
  const maps = new Map<string, ModuleMap | undefined>();
  const mapOf = (module: string): ModuleMap | undefined => {
    if (!maps.has(module)) maps.set(module, readSourceMap(folders, `${module}.map`));
    return maps.get(module);
  };
  return (text) =>
    text.replaceAll(FRAME, (frame, module: string, line: string, column: string) => {
      const { map, folder = "" } = mapOf(module) ?? {};
      const entry = map?.findEntry(Number(line) - 1, Number(column) - 1);
      if (entry === undefined || !("originalSource" in entry)) return frame;
      const { originalSource, originalLine, originalColumn } = entry;
      const file = relative(process.cwd(), resolve(folder, originalSource));
      return `${file}:${originalLine + 1}:${originalColumn + 1}`;
    });
}

/** Reads a source map. Without one, a stack trace keeps the bundle's own line numbers. */
function readSourceMap(folders: readonly string[], name: string): ModuleMap | undefined {
  const folder = folders.find((each) => existsSync(join(each, name)));
  if (folder === undefined) return undefined;
  try {
    const text = readFileSync(join(folder, name), "utf8");
    return { map: new SourceMap(JSON.parse(text) as SourceMapPayload), folder };
  } catch {
    return undefined;
  }
}
