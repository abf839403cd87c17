/** What a module may begin with, before anything but imports: only there is an import no text in a string. */
const HEAD =
  /\s+|^#!.*|\/\/.*|\/\*[^]*?\*\/|(["'])use \w+\1;?|import\b(?:[^"'();]*\bfrom\b)?\s*(?:"[^"\n]*"|'[^'\n]*')(?:\s*;)?/y;

/** What it imports, without comments, and from where. */
const ZOD_IMPORT =
  /^import(?!\s+type\b)([^"'/]*?)\bfrom\s*(["']zod(?:\/(?:v3|v4|mini|v4-mini|v4\/mini))?["'])/;

const Z = /^(?:z|z\s+as\s+([\w$]+))$/;

/**
 * Writes imports of zod's `z` as what they are, imports of the whole module: `import * as z from "zod"`. So
 * the bundler sees which of its members are used, and leaves out the others, which are texts in sixty
 * languages mostly. Whatever else `z` is used for keeps all of it. No line moves.
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

/** What a named import calls `z`; undefined for an import of something else. */
function zName(name: string): string | undefined {
  const [whole, as] = Z.exec(name) ?? [];
  return whole === undefined ? undefined : (as ?? "z");
}
