import { readFile, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { addMapping, GenMapping, toEncodedMap } from "@jridgewell/gen-mapping";
import { eachMapping, TraceMap } from "@jridgewell/trace-mapping";
import { REPO_ROOT } from "../invocation.ts";
import { ENTRY } from "./entry-module.ts";
import { bundlePath } from "./module-paths.ts";
import { isInstalled } from "./workerd-build.ts";

const HOST_SOURCES = join(REPO_ROOT, "src");

/**
 * Cuts the source map beside a bundle down to the project's own modules, by their paths in the project:
 * a platform that logs an error of deployed code tells with it where in the project that was. What
 * installed packages make up stays as it is in the bundle.
 */
export async function keepOwnPositions(outFile: string, projectDir: string): Promise<void> {
  const mapFile = `${outFile}.map`;
  const full = new TraceMap(JSON.parse(await readFile(mapFile, "utf8")));
  const kept = new GenMapping();
  const paths = new Map<string, string | null>();
  const pathOf = (source: string): string | null => {
    let path = paths.get(source);
    if (path === undefined) {
      const file = resolve(dirname(outFile), source);
      path = isOwn(file) ? bundlePath(projectDir, file) : null;
      paths.set(source, path);
    }
    return path;
  };
  let wasOwn = false;
  eachMapping(full, (mapping) => {
    const { generatedLine: line, generatedColumn: column, source } = mapping;
    const path = source === null ? null : pathOf(source);
    const generated = { line, column };
    if (path !== null && source !== null) {
      const original = { line: mapping.originalLine, column: mapping.originalColumn };
      addMapping(kept, { generated, original, source: path });
    } else if (wasOwn) {
      // Without an end, what follows would count as the project's.
      addMapping(kept, { generated });
    }
    wasOwn = path !== null;
  });
  const { version, sources, names, mappings } = toEncodedMap(kept);
  await writeFile(mapFile, JSON.stringify({ version, sources, names, mappings }));
}

/** Neither a package, nor the graph host, nor a module that the build made up. */
function isOwn(file: string): boolean {
  return !isInstalled(file) && !file.startsWith(HOST_SOURCES) && !file.includes(`${ENTRY}:`);
}
