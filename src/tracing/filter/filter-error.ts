/** The request field whose text is at fault, when several may be given. */
export type FilterScope = "filter" | "trace_filter" | "tree_filter";

/** A filter text that is refused. `message` is for whoever wrote it. */
export class FilterError extends Error {
  override readonly name = "FilterError";
  /** Characters before the place that is wrong. */
  readonly position: number;
  /** What could have stood there. */
  readonly expected: string;
  /** Set where several texts are compiled together. */
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
