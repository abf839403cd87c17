/** The parts of a class of Tailwind that are in brackets. Each function says where one ends that begins here, or null. */

const CLOSING: Readonly<Record<string, string>> = { "(": ")", "[": "]", "{": "}" };

/** More of them, one in the other, are in no class. */
const MAX_DEPTH = 32;

/** What is between the quotes of a string, which has no whitespace, and the second one. */
const STRINGS: Readonly<Record<string, RegExp>> = {
  '"': /(?:\\[^\s]|[^"\\\s])*"/y,
  "'": /(?:\\[^\s]|[^'\\\s])*'/y,
  "`": /(?:\\[^\s]|[^`\\\s])*`/y,
};

const PROPERTY = /\[(?:--(?:[\w-]|[^\0-\x7f]|\\[^\s\0])+|[a-z-]+):(?!\/)/y;
const VARIABLE = /\((?:[a-z-]+:(?=-))?--(?:[\w-]|[^\0-\x7f]|\\[^\s\0])+/y;

/** A value: `[calc(100%-1rem)]`. */
export function bracketsEnd(line: string, start: number): number | null {
  return valueEnd(line, start + 1, "]", "");
}

/** A property with its value: `[mask-type:luminance]`, `[--gap:1rem]`. */
export function propertyEnd(line: string, start: number): number | null {
  PROPERTY.lastIndex = start;
  return PROPERTY.test(line) ? valueEnd(line, PROPERTY.lastIndex, "]", ":!") : null;
}

/** A variable with what it may be without: `(--gap)`, `(length:--gap,1rem)`. */
export function variableEnd(line: string, start: number): number | null {
  VARIABLE.lastIndex = start;
  if (!VARIABLE.test(line)) return null;
  const at = VARIABLE.lastIndex;
  if (line[at] === ")") return at + 1;
  return line[at] === "," ? valueEnd(line, at + 1, ")", ":") : null;
}

/** `refused` are the characters that may be in inner brackets and strings only. */
function valueEnd(line: string, start: number, closing: string, refused: string): number | null {
  const open: string[] = [];
  for (let at = start; at < line.length; at += 1) {
    const char = line[at] ?? "";
    const inner = CLOSING[char];
    const string = STRINGS[char];
    if (/\s/.test(char)) return null;
    if (char === "\\") {
      if (/^\s?$/.test(line[at + 1] ?? "")) return null;
      at += 1;
    } else if (inner !== undefined) {
      if (open.length === MAX_DEPTH) return null;
      open.push(inner);
    } else if (open.length === 0 && char === closing) {
      return at + 1;
    } else if (open.length > 0 && /[)\]}]/.test(char)) {
      if (open.pop() !== char) return null;
    } else if (string !== undefined) {
      string.lastIndex = at + 1;
      if (!string.test(line)) return null;
      at = string.lastIndex - 1;
    } else if (char === "$" && line[at + 1] === "{") {
      return null;
    } else if (open.length === 0 && refused.includes(char)) {
      return null;
    }
  }
  return null;
}
