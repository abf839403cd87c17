import { existsSync, readFileSync } from "node:fs";
import { SourceMap, type SourceMapPayload } from "node:module";
import { join, relative, resolve } from "node:path";

/** A place in one of the Worker's modules, as workerd names it in a stack: what it was built of may be several. */
const FRAME = /(?:file:\/\/\/|(?<![\w./-]))([\w-]+\.js):(\d+):(\d+)/g;

type ModuleMap = { map: SourceMap; folder: string };

/**
 * Makes the places in an error's stack those of the source files. A module's source map is in the first of the folders
 * that has one; they are large, so each is read when the first stack needs it.
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

/** Without its map a stack still names the bundle's own lines. */
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
