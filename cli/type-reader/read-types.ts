import { join } from "node:path";
import * as ts from "typescript";
import libraries from "./libraries.json";
import template from "./template.json";
import { readArchive } from "../../src/lib/package-archive.ts";
import {
  type DeclarationSource,
  MAX_SCHEMAS_BYTES,
  type ReadSchemas,
  type TypesRequest,
} from "../../src/lib/remote-types.ts";
import { BYTES_PER_MB } from "../../src/lib/bytes.ts";
import { extractGraphSchemas } from "../project/extract-graph-schemas.ts";
import { answerOf, describeProblem, withWarnings } from "../project/schema-answer.ts";
import { files } from "../remote-builder/node-fs.ts";
import { createVirtualCompilerHost, forgetFiles, system, TooManyTypes } from "./compiler-files.ts";
import { TEMPLATE, writeCompilerOptions } from "./compiler-options.ts";
import { InstalledTypes, resolveAmong, resolveInstalled } from "./installed-types.ts";

const LEFT_OUT =
  "The packages that the graphs import have too many types: those of packages other than LangChain's are left out of the schemas";

/**
 * Reads the schemas of a project's graphs from their types, on a file system in memory, with the same code as
 * on Node. Too many types are reported as a warning, as is every other problem.
 */
export async function readTypes(
  request: TypesRequest,
  source: DeclarationSource,
): Promise<ReadSchemas> {
  const { graphs, projectDir } = request;
  for (const { path, ...stored } of readArchive(request.sources)) files.put(path, stored);
  for (const [name, text] of Object.entries(libraries)) system.writeFile(join("/", name), text);
  system.writeFile(TEMPLATE, template.text);
  const installed = new InstalledTypes(request, source);
  resolveAmong(installed);
  const options = writeCompilerOptions(projectDir);
  const roots = [TEMPLATE, ...graphs.map(({ file }) => file)];
  const warnings: string[] = [];
  try {
    try {
      await loadPackages(installed, roots, options);
    } catch (error) {
      if (!(error instanceof TooManyTypes)) throw error;
      forgetFiles();
      installed.begin("packages of states");
      warnings.push(LEFT_OUT);
      await loadPackages(installed, roots, options);
    }
    const requests = graphs.map(({ file, exportName }) => ({
      sourceFile: file,
      exportSymbol: exportName,
    }));
    const read = withWarnings(answerOf(graphs, await extractGraphSchemas(requests)));
    if (JSON.stringify(read.schemas).length > MAX_SCHEMAS_BYTES) {
      return without(`they have more than ${MAX_SCHEMAS_BYTES / BYTES_PER_MB} MB`);
    }
    return { schemas: read.schemas, warnings: [...warnings, ...read.warnings] };
  } catch (error) {
    if (!(error instanceof TooManyTypes)) throw error;
    return without(error.message);
  }
}

function without(problem: string): ReadSchemas {
  return { schemas: {}, warnings: [describeProblem(problem)] };
}

/** Creates programs until no further packages are needed: each one notes the packages that the next one needs. */
async function loadPackages(
  installed: InstalledTypes,
  rootNames: string[],
  options: ts.CompilerOptions,
): Promise<void> {
  const { compilerHost: host } = createVirtualCompilerHost(system, options);
  host.resolveModuleNameLiterals = (literals, from, redirected, own) =>
    literals.map(({ text }) => {
      installed.note(text, from);
      return resolveInstalled(text, from, own, host, undefined, redirected);
    });
  do ts.createProgram({ rootNames, options, host });
  while (await installed.load());
}
