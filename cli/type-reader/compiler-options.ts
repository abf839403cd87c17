import { join } from "node:path";
import * as ts from "typescript";
import { CONFIG_FILE as OF_PROJECT, compilerOptionsOf } from "../project/type-options.ts";
import { system } from "./compiler-files.ts";

/** The folder of the reader's own files, beside the project: no package is installed in it. */
export const OWN_FOLDER = "/types";
/** The module of types that the schema reader compares with, at the path where it expects it. */
export const TEMPLATE = join(OWN_FOLDER, "schema/types.template.mts");
export const CONFIG_FILE = join(OWN_FOLDER, OF_PROJECT);

/** Writes the configuration that the schema reader reads, and returns its compiler options. */
export function writeCompilerOptions(projectDir: string): ts.CompilerOptions {
  const own = join(projectDir, OF_PROJECT);
  const config = compilerOptionsOf(system.fileExists(own) ? own : undefined, {
    lib: ["es2024"],
    types: [],
  });
  system.writeFile(CONFIG_FILE, JSON.stringify(config));
  const { config: read } = ts.readConfigFile(CONFIG_FILE, system.readFile);
  const { options } = ts.parseJsonConfigFileContent(read, system, OWN_FOLDER);
  return { ...options, noEmit: true, strict: true };
}
