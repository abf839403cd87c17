/** The scanner of `@tailwindcss/oxide`, which is native code, reduced to what a single build needs. */
import { extname } from "node:path";
import { readFileSync } from "node:fs";
import { candidatesOf } from "./candidates.ts";
import { type Source, sourceFiles } from "./source-files.ts";

export class Scanner {
  /** Absolute paths of the scanned files. */
  readonly files: string[];
  /** Patterns to watch for new files; empty, because a build on the platform does not watch files. */
  readonly globs: { base: string; pattern: string }[] = [];

  constructor({ sources }: { sources: Source[] }) {
    this.files = sourceFiles(sources);
  }

  /**
   * Returns all candidates for classes. They are sorted, so that style sheets do not depend on the order of
   * files.
   */
  scan(): string[] {
    const found = new Set<string>();
    for (const file of this.files) {
      const text = readFileSync(file, "utf8");
      for (const candidate of candidatesOf(text, extname(file).slice(1))) found.add(candidate);
    }
    return [...found].toSorted();
  }
}
