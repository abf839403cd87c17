/**
 * Matches what may stand at the head of a module up to its last import. Only there can `import` not be text
 * in a string.
 */
const HEAD =
  /\s+|^#!.*|\/\/.*|\/\*[^]*?\*\/|(["'])use \w+\1;?|import\b(?:[^"'();]*\bfrom\b)?\s*(?:"[^"\n]*"|'[^'\n]*')(?:\s*;)?/y;

/** Matches an import from zod, and captures its clause, without comments, and its specifier. */
const ZOD_IMPORT =
  /^import(?!\s+type\b)([^"'/]*?)\bfrom\s*(["']zod(?:\/(?:v3|v4|mini|v4-mini|v4\/mini))?["'])/;

const Z = /^(?:z|z\s+as\s+([\w$]+))$/;

/**
 * Rewrites imports of zod's `z` as imports of the whole module: `import * as z from "zod"`. The bundler then
 * sees which members are used, and leaves out the others, which are mostly messages in sixty languages. When
 * `z` is used as a value, everything is kept. Line numbers do not change.
 */
export function withZodNamespaces(source: string): string {
  if (!source.includes("zod")) return source;
  let written = "";
  HEAD.lastIndex = 0;
  for (let at = 0; ; at = HEAD.lastIndex) {
    const part = HEAD.exec(source)?.[0];
    if (part === undefined || part === "") return written + source.slice(at);
    written += part.startsWith("import") ? withNamespace(part) : part;
  }
}

function withNamespace(statement: string): string {
  const [imported, clause = "", from] = ZOD_IMPORT.exec(statement) ?? [];
  if (imported === undefined || from === undefined) return statement;
  const [, byDefault, named] = /^\s*([\w$]+)?\s*,?\s*(?:\{([^{}]*)\})?\s*$/.exec(clause) ?? [];
  const names = (named ?? "").split(",").map((name) => name.trim());
  const spaces = names.map((name) => zName(name)).filter((name) => name !== undefined);
  if (byDefault !== undefined) spaces.push(byDefault);
  if (spaces.length === 0) return statement;
  const others = names.filter((name) => name !== "" && zName(name) === undefined);
  const imports = spaces.map((name) => `import * as ${name} from ${from};`);
  if (others.length > 0) imports.push(`import { ${others.join(", ")} } from ${from};`);
  return imports.join(" ") + "\n".repeat(statement.split("\n").length - 1);
}

/** Returns the local name of an import of `z`; undefined for other names. */
function zName(name: string): string | undefined {
  const [whole, as] = Z.exec(name) ?? [];
  return whole === undefined ? undefined : (as ?? "z");
}
