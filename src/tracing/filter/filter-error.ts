/** The request field whose text is at fault, if several may be given. */
export type FilterScope = "filter" | "trace_filter" | "tree_filter";

/** The error of a rejected filter text. `message` is for the author of the filter. */
export class FilterError extends Error {
  override readonly name = "FilterError";
  /** Number of characters before the error. */
  readonly position: number;
  /** What was expected there. */
  readonly expected: string;
  /** Set if several texts are compiled together. */
  scope: FilterScope | undefined;

  constructor(position: number, problem: string, expected: string) {
    super(`at character ${position}: ${problem}`);
    this.position = position;
    this.expected = expected;
  }
}

export function unexpected(position: number, expected: string, found: string): FilterError {
  return new FilterError(position, `expected ${expected} but found ${found}`, expected);
}

/** Returns the candidate that a misspelt name most likely means; undefined if none is close. */
function nearestName(name: string, candidates: readonly string[]): string | undefined {
  const wanted = name.toLowerCase();
  const limit = Math.max(1, Math.floor(wanted.length / 3));
  let best: { candidate: string; distance: number } | undefined;
  for (const candidate of candidates) {
    const distance = editDistance(wanted, candidate);
    if (distance <= limit && distance < (best?.distance ?? Infinity))
      best = { candidate, distance };
  }
  return best?.candidate;
}

/** Returns ", did you mean x?" for a message, or an empty text. */
export function suggestion(name: string, candidates: readonly string[]): string {
  const nearest = nearestName(name, candidates);
  return nearest === undefined ? "" : `, did you mean ${nearest}?`;
}

/** Returns the number of characters to insert, delete or replace. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= to.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
