import { FilterError, unexpected } from "./filter-error.ts";

export type Punctuation = "(" | ")" | "[" | "]" | ",";

export type Token = { at: number } & (
  | { kind: "name"; name: string }
  | { kind: "string"; value: string }
  /** The number as it is written, because costs need more digits than a product of doubles keeps. */
  | { kind: "number"; text: string }
  | { kind: "punctuation"; mark: Punctuation }
  | { kind: "end" }
);

const SPACE = /\s*/y;
const NAME = /[A-Za-z][A-Za-z0-9_.]*/y;
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const PUNCTUATION = /[()[\],]/y;
/** A number, or what users write in place of one: a time or a duration. */
const WORD = /[A-Za-z0-9_.:+-]+/y;
const LONGEST_QUOTE = 40;

const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  "'": "'",
  "\\": "\\",
  "/": "/",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
};

/** Returns the tokens of a filter text; the last one has the kind "end". Throws a FilterError. */
export function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    const match = pattern.exec(text)?.[0];
    if (match !== undefined) at += match.length;
    return match;
  };
  for (;;) {
    take(SPACE);
    const start = at;
    const first = text[start];
    if (first === undefined) return [...tokens, { kind: "end", at: start }];
    if (first === '"' || first === "'") {
      const { value, end } = readString(text, start);
      at = end;
      tokens.push({ kind: "string", value, at: start });
      continue;
    }
    const mark = take(PUNCTUATION);
    if (mark !== undefined) {
      tokens.push({ kind: "punctuation", mark: mark as Punctuation, at: start });
      continue;
    }
    const name = take(NAME);
    if (name !== undefined) {
      tokens.push({ kind: "name", name, at: start });
      continue;
    }
    const number = take(NUMBER);
    if (number === undefined) {
      throw unexpected(start, "a function, field or value", describeCharacter(text, start));
    }
    const rest = take(WORD);
    if (rest !== undefined) {
      const word = `${number}${rest}`.slice(0, LONGEST_QUOTE);
      const problem = `${word} is not a number; a time or duration has to be in quotes`;
      throw new FilterError(start, problem, "a number");
    }
    tokens.push({ kind: "number", text: number, at: start });
  }
}

/** Describes a token for a message. */
export function describeToken(token: Token): string {
  switch (token.kind) {
    case "name":
      return `the name ${token.name}`;
    case "string":
      return quoted(token.value);
    case "number":
      return `the number ${token.text}`;
    case "punctuation":
      return `'${token.mark}'`;
    case "end":
      return "the end of the filter";
  }
}

/** Quotes a text for a message and shortens a long one. */
export function quoted(value: string): string {
  const head = value.length > LONGEST_QUOTE ? `${value.slice(0, LONGEST_QUOTE)}...` : value;
  return JSON.stringify(head);
}

function describeCharacter(text: string, at: number): string {
  return JSON.stringify(String.fromCodePoint(text.codePointAt(at) ?? 0));
}

function readString(text: string, start: number): { value: string; end: number } {
  const quote = text[start];
  let value = "";
  for (let at = start + 1; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (character === quote) {
      // Some functions of SQLite end a text at U+0000 and others do not.
      if (value.includes("\0")) {
        const problem = "a text cannot contain the character U+0000";
        throw new FilterError(start, problem, "a text without U+0000");
      }
      return { value: value.toWellFormed(), end: at + 1 };
    }
    if (character !== "\\") {
      value += character;
      continue;
    }
    const escaped = readEscape(text, at);
    value += escaped.value;
    at += escaped.length - 1;
  }
  const problem = `this text has no closing ${quote}`;
  throw new FilterError(start, problem, `a closing ${quote}`);
}

function readEscape(text: string, at: number): { value: string; length: number } {
  const letter = text.charAt(at + 1);
  const value = ESCAPES[letter];
  if (value !== undefined) return { value, length: 2 };
  const hex = letter === "u" ? text.slice(at + 2, at + 6) : "";
  if (/^[0-9a-fA-F]{4}$/.test(hex)) {
    return { value: String.fromCharCode(Number.parseInt(hex, 16)), length: 6 };
  }
  const expected = "an escape: \\\\ \\\" \\' \\/ \\b \\f \\n \\r \\t or \\u with four hex digits";
  const problem = `\\${letter} is not an escape; a backslash itself is written \\\\`;
  throw new FilterError(at, problem, expected);
}
