/**
 * Replaces some of the compiler's exports for the schema reader in the isolate: the only system is the files
 * in memory, and the configuration need not be looked up.
 */
import * as ts from "typescript";
import { system } from "./compiler-files.ts";
import { READER_CONFIG_FILE, TEMPLATE } from "./compiler-options.ts";
import { hasClassesOfStates, resolveInstalled } from "./installed-types.ts";
import { forgetResearch, researched } from "./research-program.ts";

export const sys = system;

/** Returns the reader's own configuration, even when a folder above has one: it extends the project's. */
export const findConfigFile = (): string => READER_CONFIG_FILE;

/** Returns nothing: type errors are not reported, and finding them takes longer than reading the schemas. */
export const getPreEmitDiagnostics = (): ts.Diagnostic[] => [];

/**
 * Creates a program. The schema reader first creates one in which it looks up subgraphs, and holds it until
 * its end, with everything that was computed about types. It therefore gets a substitute, whose contents are
 * dropped when the next program is created. In that one it inspects every declaration to learn which classes
 * inherit from others; only the files for which this can matter are listed.
 */
export const createProgram = (options: ts.CreateProgramOptions): ts.Program => {
  forgetResearch();
  const program = ts.createProgram(options);
  if (options.rootNames.includes(TEMPLATE)) return researched(program);
  const getSourceFiles = (): ts.SourceFile[] =>
    program.getSourceFiles().filter(({ fileName }) => hasClassesOfStates(fileName));
  return { ...program, getSourceFiles };
};

export const resolveModuleName: typeof ts.resolveModuleName = resolveInstalled;
