/** One `%`-free piece: code points, and null for each `_`. */
export type Piece = (string | null)[];

/** The pieces between the `%` of a pattern: at least one, empty where a `%` is first or last. */
export type LikePattern = { pieces: Piece[] };

/**
 * `%` is any text, `_` one character. A backslash before `%`, `_` or a backslash makes it an
 * ordinary character; any other backslash is one itself. ASCII letters match in both cases.
 */
export function parseLike(pattern: string): LikePattern {
  const pieces: Piece[] = [[]];
  const characters = Array.from(pattern);
  for (let at = 0; at < characters.length; at += 1) {
    const character = characters[at] ?? "";
    const next = characters[at + 1];
    if (character === "\\" && (next === "%" || next === "_" || next === "\\")) {
      pieces.at(-1)?.push(next);
      at += 1;
    } else if (character === "%") {
      // Several in a row are as one.
      if (pieces.length === 1 || pieces.at(-1)?.length !== 0) pieces.push([]);
    } else {
      pieces.at(-1)?.push(character === "_" ? null : character);
    }
  }
  return { pieces };
}

/** As SQLite's lower(), which leaves all but ASCII as it is. */
export function lowerAscii(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}
