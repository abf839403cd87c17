import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { Plugin } from "esbuild";
import { isInstalled } from "../project/workerd-build.ts";

const ENTRY = createRequire(import.meta.url).resolve("typescript");
const NAMESPACE = "typescript";
const OVERRIDDEN = "overridden-typescript";

/** What the reader of schemas is given otherwise. */
const OVERRIDES = [
  "createProgram",
  "findConfigFile",
  "getPreEmitDiagnostics",
  "resolveModuleName",
  "sys",
];

/** Where the file has its parts: it is one function, whose parts begin with the names of TypeScript's sources. */
const BEGIN = "var ts = {}; ((module) => {";
const END = "\n// src/server/";
const EXPORTS = /__export\(typescript_exports, \{\n([\s\S]*?)\n\}\);/;
const EXPORT = /^\s*(\w+): \(\) => (\w+),?$/gm;
const ASSIGNMENT = "module.exports = __toCommonJS(typescript_exports);";

/** What the reader of schemas and its host use of TypeScript. */
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
 * The compiler of the `typescript` package as an ES module, without what servers ask of it: what is not used is left
 * out of a bundle then, and so the code takes a third of the memory. Throws for a version that is written otherwise.
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

/** The declarations of the language's own library, without those of browsers, by their names. */
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
 * Has modules import the compiler as above, as `typescript`. Those of packages import `replaced` in the place of other modules,
 * and of the compiler's exports that `overrides` has.
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
        // What a module exports itself comes before what it passes on.
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
