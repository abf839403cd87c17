/**
 * Finds what could be a class of Tailwind in texts of any language, by Tailwind's own rules of where one begins, what it is made
 * of, and what may follow it. Whether there is such a class is for its compiler to say.
 */
import { bracketsEnd, propertyEnd, variableEnd } from "./brackets.ts";

/** What may be before a class and behind it, besides the ends of a line: quotes and whitespace, `class.flex`, `%}flex{%`. */
const BEFORE = /[\s"'`\0.}>]/;
const BEHIND = /[\s"'`\0\]{=\\<]/;

/** A class without what is in brackets: `flex`, `-mt-2.5`, `@container`, `w-1/2` up to the slash, `from-10%`. */
const NAME =
  /(?:@(?=[a-zA-Z])|-(?=[a-z])|(?=[a-z]))(?:[a-zA-Z0-9]|-(?=[a-zA-Z0-9-])|_(?=\w)|(?<=\d)\.(?=\d))*(?:(?<=\d)%|_)?/y;

/** A variant without what is in brackets: `hover`, `2xl`, `*`, `@max-md`. */
const VARIANT = /(?:@(?=[[\w*-])|[a-z0-9*])(?:[a-zA-Z0-9*]|[-_](?=[-\w])|(?<=\d)\.(?=\d))*/y;

/** No key begins behind these: they are of what it would be a part of. */
const WITHIN = /[\w@!*-]$|[\w\])*]:$/;

const MODIFIER_NAME = /[a-zA-Z0-9][\w.-]*/y;

/** A variable of CSS: where a text names one of the theme, the theme keeps it. */
const VARIABLE = /--(?:[\w-]|[^\0-\x7f]|\\[^\s\0])+(?![\w\\-]|[^\0-\x7f])/g;
const USED_VARIABLE = new RegExp(String.raw`(?<=var\()${VARIABLE.source}`, "g");

/** Candidates and variables of a text, unsorted. `extension` says what language it is in, where that matters. */
export function* candidatesOf(text: string, extension: string): Generator<string> {
  // Style sheets have no classes to look for: they only use variables.
  if (extension === "css") {
    for (const [variable] of text.matchAll(USED_VARIABLE)) yield variable;
    return;
  }
  const source = prepared(text, extension);
  for (const [variable] of source.matchAll(VARIABLE)) yield variable;
  yield* classesOf(source);
}

/** Brackets of JSON are no part of a class. */
function prepared(text: string, extension: string): string {
  if (/^(?:json|jsonl|ndjson)$/.test(extension)) {
    return text.replaceAll(/"(?:\\[^]|[^"\\])*"?|[[\]{}]/g, (part) =>
      part.startsWith('"') ? part : " ",
    );
  }
  return /^mdx?$/.test(extension) ? withoutAttributes(text) : text;
}

/** Classes are attributes in Markdown, `{.flex.p-4}`: dots divide them where they are in no further brackets. */
function withoutAttributes(text: string): string {
  let depth = 0;
  return text.replaceAll(/[.()<>[\]{}]/g, (char) => {
    const isOpening = "([{<".includes(char);
    if (depth === 0) {
      if (char === "{") depth = 1;
      return char === "{" ? " " : char;
    }
    if (char === ".") return depth === 1 ? " " : char;
    // Any bracket closes any other; only a curly one closes the outermost.
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
    // What is within another one is none of its own.
    if (end === null || end <= foundUpTo) continue;
    foundUpTo = end;
    yield line.slice(at, end);
  }
}

/** Where a class with its variants ends that begins here; null where none does. */
function classEnd(line: string, start: number): number | null {
  let at = start;
  for (let end = variantEnd(line, at); end !== null; end = variantEnd(line, at)) at = end;
  const end = utilityEnd(line, at);
  const next = end === null ? undefined : line[end];
  if (end !== null && (next === undefined || BEHIND.test(next))) return end;
  return keyEnd(line, start);
}

/** A key of an object is a class, too, which looks like a variant: `{ underline: isActive }`. */
function keyEnd(line: string, start: number): number | null {
  if (WITHIN.test(line.slice(Math.max(0, start - 2), start))) return null;
  const end = utilityEnd(line, start);
  if (end === null || variantEnd(line, start) !== end + 1) return null;
  return /^\s?$/.test(line[end + 1] ?? "") ? end : null;
}

/** `flex`, `!flex`, `flex!`, `bg-red-500/50`, `[color:red]`. */
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

/** Behind the colon: `hover:`, `data-[state=open]:`, `group-hover/name:`, `[&>p]:`. */
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

/** `/50`, `/[20%]`, `/(--opacity)`. */
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
