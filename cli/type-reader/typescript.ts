/**
 * What is otherwise in the compiler that the reader of schemas is given in the isolate: there is no system beside the files in
 * memory, and no project to look for a configuration in.
 */
import * as ts from "typescript";
import { system } from "./compiler-files.ts";
import { READER_CONFIG_FILE, TEMPLATE } from "./compiler-options.ts";
import { hasClassesOfStates, resolveInstalled } from "./installed-types.ts";
import { forgetResearch, researched } from "./research-program.ts";

export const sys = system;

/** Also where a folder above has one: this one names that of the project. */
export const findConfigFile = (): string => READER_CONFIG_FILE;

/** Nobody reads what is wrong with the types, and looking for it takes more than reading the schemas. */
export const getPreEmitDiagnostics = (): ts.Diagnostic[] => [];

/**
 * The reader of schemas begins with a program in which it looks for subgraphs, and has it to its end, with all that was found
 * out about types: it is given one that has nothing any more when the next one is made. In that one it looks at every
 * declaration, to know which classes others inherit from; it is shown those files only of which this can matter.
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
