import { join } from "node:path";
import * as ts from "typescript";
import { CONFIG_FILE, compilerOptionsOf } from "../project/type-options.ts";
import { system } from "./compiler-files.ts";

/** The folder of the reader's own files, beside the project: no package is installed in it. */
export const OWN_FOLDER = "/types";
/** The module of types that the schema reader compares with, at the path where it expects it. */
export const TEMPLATE = join(OWN_FOLDER, "schema/types.template.mts");
export const READER_CONFIG_FILE = join(OWN_FOLDER, CONFIG_FILE);

/** Writes the configuration that the schema reader reads, and returns its compiler options. */
export function writeCompilerOptions(projectDir: string): ts.CompilerOptions {
  const own = join(projectDir, CONFIG_FILE);
  const config = compilerOptionsOf(system.fileExists(own) ? own : undefined, {
    lib: ["es2024"],
    types: [],
  });
  system.writeFile(READER_CONFIG_FILE, JSON.stringify(config));
  const { config: read } = ts.readConfigFile(READER_CONFIG_FILE, system.readFile);
  const { options } = ts.parseJsonConfigFileContent(read, system, OWN_FOLDER);
  return { ...options, noEmit: true, strict: true };
}
