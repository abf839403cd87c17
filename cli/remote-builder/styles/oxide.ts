/** The scanner of `@tailwindcss/oxide`, which is native code, as much of it as a single build asks for. */
import { extname } from "node:path";
import { readFileSync } from "node:fs";
import { candidatesOf } from "./candidates.ts";
import { type Source, sourceFiles } from "./source-files.ts";

export class Scanner {
  /** Absolute paths of what is scanned. */
  readonly files: string[];
  /** What to watch for new files: a build on the platform watches nothing. */
  readonly globs: { base: string; pattern: string }[] = [];

  constructor({ sources }: { sources: Source[] }) {
    this.files = sourceFiles(sources);
  }

  /** All that could be a class, sorted, so that style sheets come out alike whatever the order of files. */
  scan(): string[] {
    const found = new Set<string>();
    for (const file of this.files) {
      const text = readFileSync(file, "utf8");
      for (const candidate of candidatesOf(text, extname(file).slice(1))) found.add(candidate);
    }
    return [...found].toSorted();
  }
}
