/**
 * Finds candidates for Tailwind classes in text of any language, by Tailwind's own rules for where a class
 * begins, what it consists of, and what may follow it. Tailwind's compiler decides which candidates are
 * classes.
 */
import { bracketsEnd, propertyEnd, variableEnd } from "./brackets.ts";

/**
 * Characters that may precede and follow a class, besides the ends of a line: quotes and whitespace,
 * `class.flex`, `%}flex{%`.
 */
const BEFORE = /[\s"'`\0.}>]/;
const BEHIND = /[\s"'`\0\]{=\\<]/;

/**
 * Matches a class without its bracketed part: `flex`, `-mt-2.5`, `@container`, `w-1/2` up to the slash,
 * `from-10%`.
 */
const NAME =
  /(?:@(?=[a-zA-Z])|-(?=[a-z])|(?=[a-z]))(?:[a-zA-Z0-9]|-(?=[a-zA-Z0-9-])|_(?=\w)|(?<=\d)\.(?=\d))*(?:(?<=\d)%|_)?/y;

/** Matches a variant without its bracketed part: `hover`, `2xl`, `*`, `@max-md`. */
const VARIANT = /(?:@(?=[[\w*-])|[a-z0-9*])(?:[a-zA-Z0-9*]|[-_](?=[-\w])|(?<=\d)\.(?=\d))*/y;

/** Matches text after which no key can begin, because the key would be part of a longer word. */
const WITHIN = /[\w@!*-]$|[\w\])*]:$/;

const MODIFIER_NAME = /[a-zA-Z0-9][\w.-]*/y;

/** Matches a CSS variable. Tailwind keeps a variable of the theme when any text names it. */
const VARIABLE = /--(?:[\w-]|[^\0-\x7f]|\\[^\s\0])+(?![\w\\-]|[^\0-\x7f])/g;
const USED_VARIABLE = new RegExp(String.raw`(?<=var\()${VARIABLE.source}`, "g");

/**
 * Yields the candidates and variables of a text, unsorted. `extension` is the file's, since some languages
 * are treated specially.
 */
export function* candidatesOf(text: string, extension: string): Generator<string> {
  // Style sheets contain no classes; only the variables that they use count.
  if (extension === "css") {
    for (const [variable] of text.matchAll(USED_VARIABLE)) yield variable;
    return;
  }
  const source = prepared(text, extension);
  for (const [variable] of source.matchAll(VARIABLE)) yield variable;
  yield* classesOf(source);
}

/** Replaces syntax that is not part of a class: brackets in JSON, and attribute lists in Markdown. */
function prepared(text: string, extension: string): string {
  if (/^(?:json|jsonl|ndjson)$/.test(extension)) {
    return text.replaceAll(/"(?:\\[^]|[^"\\])*"?|[[\]{}]/g, (part) =>
      part.startsWith('"') ? part : " ",
    );
  }
  return /^mdx?$/.test(extension) ? withoutAttributes(text) : text;
}

/**
 * Separates the classes in Markdown's attribute lists, `{.flex.p-4}`: a dot separates them unless it is in
 * further brackets.
 */
function withoutAttributes(text: string): string {
  let depth = 0;
  return text.replaceAll(/[.()<>[\]{}]/g, (char) => {
    const isOpening = "([{<".includes(char);
    if (depth === 0) {
      if (char === "{") depth = 1;
      return char === "{" ? " " : char;
    }
    if (char === ".") return depth === 1 ? " " : char;
    // Any bracket closes any other; only a curly bracket closes the outermost.
    if (isOpening) depth += 1;
    else if (depth > 1) depth -= 1;
    else if (char === "}") {
      depth = 0;
      return " ";
    }
    return char;
  });
}

function* classesOf(line: string): Generator<string> {
  let foundUpTo = 0;
  for (let at = 0; at < line.length; at += 1) {
    const before = line[at - 1];
    const end = before === undefined || BEFORE.test(before) ? classEnd(line, at) : keyEnd(line, at);
    // A candidate inside another one does not count.
    if (end === null || end <= foundUpTo) continue;
    foundUpTo = end;
    yield line.slice(at, end);
  }
}

/** Returns the end of the class, including its variants, that starts here; null when none does. */
function classEnd(line: string, start: number): number | null {
  let at = start;
  for (let end = variantEnd(line, at); end !== null; end = variantEnd(line, at)) at = end;
  const end = utilityEnd(line, at);
  const next = end === null ? undefined : line[end];
  if (end !== null && (next === undefined || BEHIND.test(next))) return end;
  return keyEnd(line, start);
}

/**
 * Returns the end of an object key that starts here; null when none does. A key can be a class, too, and
 * looks like a variant: `{ underline: isActive }`.
 */
function keyEnd(line: string, start: number): number | null {
  if (WITHIN.test(line.slice(Math.max(0, start - 2), start))) return null;
  const end = utilityEnd(line, start);
  if (end === null || variantEnd(line, start) !== end + 1) return null;
  return /^\s?$/.test(line[end + 1] ?? "") ? end : null;
}

/** Returns the end of a class without variants: `flex`, `!flex`, `flex!`, `bg-red-500/50`, `[color:red]`. */
function utilityEnd(line: string, start: number): number | null {
  const isImportant = line[start] === "!";
  const from = isImportant ? start + 1 : start;
  let at = line[from] === "[" ? propertyEnd(line, from) : nameEnd(line, from);
  if (at !== null && line[at] === "/") {
    at = modifierEnd(line, at);
  }
  if (at === null || line[at] !== "!") return at;
  return isImportant ? null : at + 1;
}

function nameEnd(line: string, start: number): number | null {
  const at = matchEnd(NAME, line, start);
  if (at === null || line[at] !== "-") return at;
  return line[at + 1] === "[" ? bracketsEnd(line, at + 1) : variableEnd(line, at + 1);
}

/** Returns the position after a variant's colon: `hover:`, `data-[state=open]:`, `group-hover/name:`, `[&>p]:`. */
function variantEnd(line: string, start: number): number | null {
  let at: number | null;
  if (line[start] === "[") {
    at = bracketsEnd(line, start);
  } else {
    at = matchEnd(VARIANT, line, start);
    if (at !== null && line[at] === "-") at += 1;
    if (at !== null && line[at] === "[") at = bracketsEnd(line, at);
    else if (at !== null && line[at] === "(") at = variableEnd(line, at);
    if (at !== null && line[at] === "/") at = modifierEnd(line, at);
  }
  return at !== null && line[at] === ":" ? at + 1 : null;
}

/** Returns the end of a modifier: `/50`, `/[20%]`, `/(--opacity)`. */
function modifierEnd(line: string, slash: number): number | null {
  const next = line[slash + 1];
  if (next === "[") return bracketsEnd(line, slash + 1);
  if (next === "(") return variableEnd(line, slash + 1);
  return matchEnd(MODIFIER_NAME, line, slash + 1);
}

function matchEnd(pattern: RegExp, line: string, start: number): number | null {
  pattern.lastIndex = start;
  return pattern.test(line) ? pattern.lastIndex : null;
}
