/**
 * What is otherwise in the compiler that the reader of schemas is given in the isolate: there is no system beside the files in
 * memory, and no project to look for a configuration in.
 */
import * as ts from "typescript";
import { system } from "./compiler-files.ts";
import { CONFIG_FILE } from "./compiler-options.ts";
import { resolveInstalled } from "./installed-types.ts";

export const sys = system;

/** Also where a folder above has one: this one names that of the project. */
export const findConfigFile = (): string => CONFIG_FILE;

/** Nobody reads what is wrong with the types, and looking for it takes more than reading the schemas. */
export const getPreEmitDiagnostics = (): ts.Diagnostic[] => [];

export const resolveModuleName: typeof ts.resolveModuleName = resolveInstalled;
