/** The measured figures of a part of the verification, and its problems. */
export type PartResult = { figures: [what: string, figure: string][]; problems: string[] };

/** The platform that is verified. */
export type Target = { url: string; apiKey: string };

const MAX_PROBLEMS = 50;

/** Collects each kind of problem once, up to a readable number. */
export class Problems {
  readonly #found = new Map<string, string>();
  #count = 0;

  /** Adds a problem. Problems of the same `kind` count as the same one. */
  add(kind: string, text: string): void {
    this.#count += 1;
    if (!this.#found.has(kind) && this.#found.size < MAX_PROBLEMS) this.#found.set(kind, text);
  }

  /** The number of all problems, including repeated ones. */
  get count(): number {
    return this.#count;
  }

  list(): string[] {
    return [...this.#found.values()];
  }
}
