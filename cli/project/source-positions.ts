import { readFile, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { encode, type SourceMapSegment } from "@jridgewell/sourcemap-codec";
import { REPO_ROOT } from "../invocation.ts";
import { ENTRY } from "./entry-module.ts";
import { readMappings } from "./mapping-reader.ts";
import { bundlePath } from "./module-paths.ts";
import { isInstalled } from "./workerd-build.ts";

const HOST_SOURCES = join(REPO_ROOT, "src");

/**
 * Reduces the source map beside a bundle to the project's own modules, with paths relative to the project.
 * With it, a platform logs the location in the project for errors of deployed code. Locations in installed
 * packages remain those in the bundle.
 */
export async function keepOwnPositions(outFile: string, projectDir: string): Promise<void> {
  const mapFile = `${outFile}.map`;
  const full = JSON.parse(await readFile(mapFile, "utf8")) as {
    sources: string[];
    mappings: string;
  };
  const files = full.sources.map((source) => resolve(dirname(outFile), source));
  const own = files.filter(isOwn);
  const kept = keptIndexes(files, own);
  const mappings = encode(keptOf(full.mappings, kept));
  const sources = own.map((file) => bundlePath(projectDir, file));
  await writeFile(mapFile, JSON.stringify({ version: 3, sources, names: [], mappings }));
}

/** Returns for each file its index among the kept ones, or -1. */
function keptIndexes(files: readonly string[], kept: readonly string[]): number[] {
  const places = new Map(kept.map((file, index) => [file, index]));
  return files.map((file) => places.get(file) ?? -1);
}

/** Returns the mappings that are kept, line by line. */
function keptOf(mappings: string, kept: readonly number[]): SourceMapSegment[][] {
  const lines: SourceMapSegment[][] = [];
  let line: SourceMapSegment[] = [];
  let wasKept = false;
  readMappings(mappings, {
    segment: (column, source, originalLine, originalColumn) => {
      const place = kept[source] ?? -1;
      if (place !== -1) line.push([column, place, originalLine, originalColumn]);
      // Without an end mark, the following code would be attributed to the project.
      else if (wasKept) line.push([column]);
      wasKept = place !== -1;
    },
    endOfLine: () => {
      lines.push(line);
      line = [];
      wasKept = false;
    },
  });
  return lines;
}

/** Returns whether a file belongs to the project, and not to a package, the graph host or the generated modules. */
function isOwn(file: string): boolean {
  return !isInstalled(file) && !file.startsWith(HOST_SOURCES) && !file.includes(`${ENTRY}:`);
}
