import { readFile } from "node:fs/promises";
import { SourceMap, type SourceMapPayload } from "node:module";
import { dirname, relative, resolve } from "node:path";

/** A location in one of the Worker's modules, in the form that workerd uses in stack traces. */
const FRAME = /(?:file:\/\/\/|(?<![\w./-]))([\w-]+\.js):(\d+):(\d+)/g;

/** Returns the file of a module's source map; undefined when it has none. */
export type FindMap = (module: string) => Promise<string | undefined>;

/** Maps the locations in a text, such as a stack trace, to the source files. */
export type MapFrames = (text: string) => Promise<string>;

type ModuleMap = { map: SourceMap; folder: string };

/**
 * Returns a function that maps locations with the source maps that `findMap` returns. The maps are large, so
 * each is only looked for and read when a text needs it.
 */
export function sourceMapper(findMap: FindMap): MapFrames {
  const maps = new Map<string, Promise<ModuleMap | undefined>>();
  const mapOf = (module: string): Promise<ModuleMap | undefined> => {
    const known = maps.get(module) ?? readSourceMap(findMap, module);
    maps.set(module, known);
    return known;
  };
  return async (text) => {
    const modules = new Set([...text.matchAll(FRAME)].map(([, module = ""]) => module));
    const read = await Promise.all(
      [...modules].map(async (module) => [module, await mapOf(module)] as const),
    );
    const byModule = new Map(read);
    return text.replaceAll(FRAME, (frame, module: string, line: string, column: string) => {
      const { map, folder = "" } = byModule.get(module) ?? {};
      const entry = map?.findEntry(Number(line) - 1, Number(column) - 1);
      if (entry === undefined || !("originalSource" in entry)) return frame;
      const { originalSource, originalLine, originalColumn } = entry;
      const file = relative(process.cwd(), resolve(folder, originalSource));
      return `${file}:${originalLine + 1}:${originalColumn + 1}`;
    });
  };
}

/** Reads a source map. Without one, a stack trace keeps the bundle's own line numbers. */
async function readSourceMap(findMap: FindMap, module: string): Promise<ModuleMap | undefined> {
  try {
    const file = await findMap(module);
    if (file === undefined) return undefined;
    const payload = JSON.parse(await readFile(file, "utf8")) as SourceMapPayload;
    return { map: new SourceMap(payload), folder: dirname(file) };
  } catch {
    return undefined;
  }
}
