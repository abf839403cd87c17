/**
 * Parses the bracketed parts of Tailwind classes. Each function returns the end of the part that starts at
 * `start`, or null.
 */

const CLOSING: Readonly<Record<string, string>> = { "(": ")", "[": "]", "{": "}" };

/** Maximum nesting of brackets in a class. */
const MAX_DEPTH = 32;

/** Match the rest of a string after its opening quote, up to the closing one; strings contain no whitespace. */
const STRINGS: Readonly<Record<string, RegExp>> = {
  '"': /(?:\\[^\s]|[^"\\\s])*"/y,
  "'": /(?:\\[^\s]|[^'\\\s])*'/y,
  "`": /(?:\\[^\s]|[^`\\\s])*`/y,
};

const PROPERTY = /\[(?:--(?:[\w-]|[^\0-\x7f]|\\[^\s\0])+|[a-z-]+):(?!\/)/y;
const VARIABLE = /\((?:[a-z-]+:(?=-))?--(?:[\w-]|[^\0-\x7f]|\\[^\s\0])+/y;

/** Parses a value: `[calc(100%-1rem)]`. */
export function bracketsEnd(line: string, start: number): number | null {
  return valueEnd(line, start + 1, "]", "");
}

/** Parses a property with its value: `[mask-type:luminance]`, `[--gap:1rem]`. */
export function propertyEnd(line: string, start: number): number | null {
  PROPERTY.lastIndex = start;
  return PROPERTY.test(line) ? valueEnd(line, PROPERTY.lastIndex, "]", ":!") : null;
}

/** Parses a variable with an optional type and fallback: `(--gap)`, `(length:--gap,1rem)`. */
export function variableEnd(line: string, start: number): number | null {
  VARIABLE.lastIndex = start;
  if (!VARIABLE.test(line)) return null;
  const at = VARIABLE.lastIndex;
  if (line[at] === ")") return at + 1;
  return line[at] === "," ? valueEnd(line, at + 1, ")", ":") : null;
}

/**
 * Parses the rest of a value up to `closing`. `refused` are characters that are only allowed in inner
 * brackets and strings.
 */
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
