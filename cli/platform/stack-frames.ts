import { readFileSync } from "node:fs";
import { SourceMap, type SourceMapPayload } from "node:module";
import { join, relative, resolve } from "node:path";

/** A place in one of the Worker's modules, as workerd names it in a stack: what it was built of may be several. */
const FRAME = /(?:file:\/\/\/|(?<![\w./-]))([\w-]+\.js):(\d+):(\d+)/g;

/**
 * Makes the places in an error's stack those of the source files.
 * The source maps are large, so each is read when the first stack needs it.
 */
export function sourceMapper(buildDir: string): (text: string) => string {
  const maps = new Map<string, SourceMap | undefined>();
  const mapOf = (module: string): SourceMap | undefined => {
    if (!maps.has(module)) maps.set(module, readSourceMap(join(buildDir, `${module}.map`)));
    return maps.get(module);
  };
  return (text) =>
    text.replaceAll(FRAME, (frame, module: string, line: string, column: string) => {
      const entry = mapOf(module)?.findEntry(Number(line) - 1, Number(column) - 1);
      if (entry === undefined || !("originalSource" in entry)) return frame;
      const { originalSource, originalLine, originalColumn } = entry;
      const file = relative(process.cwd(), resolve(buildDir, originalSource));
      return `${file}:${originalLine + 1}:${originalColumn + 1}`;
    });
}

function readSourceMap(file: string): SourceMap | undefined {
  try {
    return new SourceMap(JSON.parse(readFileSync(file, "utf8")) as SourceMapPayload);
  } catch {
    // Without its map a stack still names the bundle's own lines.
    return undefined;
  }
}
