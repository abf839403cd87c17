/**
 * The files that the compiler sees, in memory: in the isolate this module takes the place of `@typescript/vfs`, by which
 * the reader of schemas has its files on Node.
 */
import { join } from "node:path";
import * as ts from "typescript";
import { FileSystemError } from "../remote-builder/virtual-fs.ts";
import { files } from "../remote-builder/node-fs.ts";
import { BYTES_PER_MB } from "../../src/lib/bytes.ts";
import { MAX_TYPE_BYTES } from "../../src/lib/remote-types.ts";

/** The compiler was to read more than an isolate has room for. */
export class TooManyTypes extends Error {
  constructor() {
    super(`these have more than ${MAX_TYPE_BYTES / BYTES_PER_MB} MB`);
  }
}

/** What the compiler asks of a system, as far as programs need it. */
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

/** Files are parsed once for all programs: nothing in them changes but by being written. */
const parsed = new Map<string, ts.SourceFile>();
let parsedBytes = 0;

/** Parses a file; undefined where there is none. It throws `TooManyTypes` when all files are too much. */
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

/** Has all files parsed anew: another choice of them begins. */
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
