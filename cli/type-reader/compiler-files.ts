/**
 * The files that the compiler sees, in memory. In the isolate this module replaces `@typescript/vfs`, through
 * which the schema reader accesses files on Node.
 */
import { join } from "node:path";
import * as ts from "typescript";
import { FileSystemError } from "../remote-builder/virtual-fs.ts";
import { files } from "../remote-builder/node-fs.ts";
import { BYTES_PER_MB } from "../../src/lib/bytes.ts";
import { MAX_TYPE_BYTES } from "../../src/lib/remote-types.ts";

/** Thrown when the compiler would read more than fits into an isolate's memory. */
export class TooManyTypes extends Error {
  constructor() {
    super(`the types have more than ${MAX_TYPE_BYTES / BYTES_PER_MB} MB`);
  }
}

/** The compiler's `System`, reduced to what programs need. */
export const system = {
  newLine: "\n",
  useCaseSensitiveFileNames: true,
  fileExists: (path: string): boolean => files.stat(path)?.isFile() ?? false,
  directoryExists: (path: string): boolean => files.stat(path)?.isDirectory() ?? false,
  readFile: (path: string): string | undefined => {
    if (!system.fileExists(path)) return undefined;
    return new TextDecoder().decode(files.read(path));
  },
  writeFile: (path: string, text: string): void => {
    files.write(path, new TextEncoder().encode(text));
    parsed.delete(path);
  },
  getCurrentDirectory: (): string => "/",
  getDirectories: (path: string): string[] => {
    if (!system.directoryExists(path)) return [];
    return files.names(path).flatMap(({ name, kind }) => (kind === "file" ? [] : [name]));
  },
  readDirectory: (): string[] => [],
  realpath: (path: string): string => {
    try {
      return files.realPath(path);
    } catch (error) {
      if (error instanceof FileSystemError) return path;
      throw error;
    }
  },
};

/** Parsed files, shared by all programs: a file only changes when it is written. */
const parsed = new Map<string, ts.SourceFile>();
let parsedBytes = 0;

/**
 * Parses a file; returns undefined when it does not exist. Throws `TooManyTypes` when all files together
 * exceed the limit.
 */
function sourceFile(
  path: string,
  options: ts.ScriptTarget | ts.CreateSourceFileOptions,
  readFile: (path: string) => string | undefined,
): ts.SourceFile | undefined {
  const known = parsed.get(path);
  if (known !== undefined) return known;
  const text = readFile(path);
  if (text === undefined) return undefined;
  parsedBytes += text.length;
  if (parsedBytes > MAX_TYPE_BYTES) throw new TooManyTypes();
  const file = ts.createSourceFile(path, text, options, false);
  parsed.set(path, file);
  return file;
}

/** Discards all parsed files, before another selection of files is read. */
export function forgetFiles(): void {
  parsed.clear();
  parsedBytes = 0;
}

export function createFSBackedSystem(): typeof system {
  return { ...system };
}

export function createVirtualCompilerHost(
  { readFile, ...others }: typeof system,
  options: ts.CompilerOptions,
): { compilerHost: ts.CompilerHost } {
  return {
    compilerHost: {
      ...others,
      readFile,
      getCanonicalFileName: (path) => path,
      getDefaultLibFileName: () => join("/", ts.getDefaultLibFileName(options)),
      getNewLine: () => others.newLine,
      useCaseSensitiveFileNames: () => others.useCaseSensitiveFileNames,
      getSourceFile: (path, target) => sourceFile(path, target, readFile),
    },
  };
}
