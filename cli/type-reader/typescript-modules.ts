import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { Plugin } from "esbuild";
import { isInstalled } from "../project/workerd-build.ts";

const ENTRY = createRequire(import.meta.url).resolve("typescript");
const NAMESPACE = "typescript";
const OVERRIDDEN = "overridden-typescript";

/** The compiler's exports that are replaced for the schema reader. */
const OVERRIDES = [
  "createProgram",
  "findConfigFile",
  "getPreEmitDiagnostics",
  "resolveModuleName",
  "sys",
];

/**
 * Markers in the compiler's file, which is a single function whose parts begin with the paths of TypeScript's
 * sources.
 */
const BEGIN = "var ts = {}; ((module) => {";
const END = "\n// src/server/";
const EXPORTS = /__export\(typescript_exports, \{\n([\s\S]*?)\n\}\);/;
const EXPORT = /^\s*(\w+): \(\) => (\w+),?$/gm;
const ASSIGNMENT = "module.exports = __toCommonJS(typescript_exports);";

/** The compiler's exports that the schema reader and its host use. */
const USED = new Set([
  "ModifierFlags",
  "ObjectFlags",
  "SymbolFlags",
  "SyntaxKind",
  "TypeFlags",
  "TypeFormatFlags",
  "IndexKind",
  "createModuleResolutionCache",
  "createProgram",
  "createSourceFile",
  "escapeLeadingUnderscores",
  "factory",
  "flattenDiagnosticMessageText",
  "forEachChild",
  "getCombinedModifierFlags",
  "getDefaultLibFileName",
  "getLineAndCharacterOfPosition",
  "isCallExpression",
  "isCallLikeExpression",
  "isFunctionLike",
  "isIdentifier",
  "isImportSpecifier",
  "isPropertyAccessExpression",
  "isStringLiteralLike",
  "isTypeAliasDeclaration",
  "isTypeAssertionExpression",
  "isVariableDeclaration",
  "parseJsonConfigFileContent",
  "readConfigFile",
  "resolveModuleName",
]);

/**
 * Returns the compiler of the `typescript` package as an ES module, without the parts for language servers.
 * Bundlers can then leave out unused code, which reduces the code's memory to a third. Throws for a version
 * whose file has another form.
 */
function compilerModule(): string {
  const text = readFileSync(ENTRY, "utf8");
  const [begin, end] = [text.indexOf(BEGIN), text.indexOf(END)];
  const [list = "", names = ""] = EXPORTS.exec(text) ?? [];
  const used = [...names.matchAll(EXPORT)].filter(([, name = ""]) => USED.has(name));
  if (begin === -1 || end === -1 || used.length !== USED.size) {
    throw new Error(`${ENTRY} is not written as the version that this was made for`);
  }
  const exported = used.map(([, name, local]) => `${local} as ${name}`).join(", ");
  const body = text.slice(begin + BEGIN.length, end);
  return body.replace(list, "").replace(ASSIGNMENT, `export { ${exported} };`);
}

/** Returns the declarations of the standard library, without those for browsers, keyed by file name. */
export function libraryFiles(): Record<string, string> {
  const found: Record<string, string> = {};
  const names = ["es2024"];
  for (const name of names) {
    const file = `lib.${name}.d.ts`;
    if (file in found) continue;
    const text = readFileSync(join(dirname(ENTRY), file), "utf8");
    found[file] = text;
    for (const [, reference = ""] of text.matchAll(/^\/\/\/ <reference lib="(.+)" \/>/gm)) {
      names.push(reference);
    }
  }
  return found;
}

/**
 * Makes modules import the compiler above as `typescript`. In installed packages, imports of the modules in
 * `replaced` are replaced, and `overrides` replaces some of the compiler's exports.
 */
export function typescriptPlugin({
  replaced,
  overrides,
}: {
  replaced: Readonly<Record<string, string>>;
  overrides: string;
}): Plugin {
  return {
    name: "typescript-in-isolate",
    setup(build) {
      const names = Object.keys(replaced).join("|");
      build.onResolve({ filter: new RegExp(`^(?:${names})$`) }, ({ path, importer }) =>
        isInstalled(importer) ? { path: replaced[path] ?? path } : null,
      );
      build.onResolve({ filter: /^typescript$/ }, ({ importer, namespace }) =>
        namespace === "file" && isInstalled(importer)
          ? { path: overrides, namespace: OVERRIDDEN }
          : { path: ENTRY, namespace: NAMESPACE, sideEffects: false },
      );
      build.onLoad({ filter: /.*/, namespace: OVERRIDDEN }, () => ({
        // An explicit export takes precedence over `export *`.
        contents: `export * from "typescript"; export { ${OVERRIDES.join(", ")} } from ${JSON.stringify(overrides)};`,
        loader: "js",
        resolveDir: dirname(overrides),
      }));
      build.onLoad({ filter: /.*/, namespace: NAMESPACE }, () => ({
        contents: compilerModule(),
        loader: "js",
      }));
    },
  };
}
