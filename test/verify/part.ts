/** What a part of the verification measured, and what it found wrong. */
export type PartResult = { figures: [what: string, figure: string][]; problems: string[] };

/** The platform that is verified. */
export type Target = { url: string; apiKey: string };

const MAX_PROBLEMS = 50;

/** Collects problems of one kind once, and no more than somebody would read. */
export class Problems {
  readonly #found = new Map<string, string>();
  #count = 0;

  /** `kind` says which problems are the same one. */
  add(kind: string, text: string): void {
    this.#count += 1;
    if (!this.#found.has(kind) && this.#found.size < MAX_PROBLEMS) this.#found.set(kind, text);
  }

  /** How often something was wrong, whatever it was. */
  get count(): number {
    return this.#count;
  }

  list(): string[] {
    return [...this.#found.values()];
  }
}
