import { MAX_SHIFT_MICROS } from "../filter/run-key.ts";

/** Above this many remembered starts, all are forgotten. */
const MAX_REMEMBERED = 1000;

/** Finds keys for rows of `runs`: if more runs share a start than there are keys for it, the rest use later times. */
export class FreeKeys {
  /** Where the last key was found, by start; without those that were found at the start itself. */
  readonly #found = new Map<number, number>();

  /** Calls `write` with the start, and with the following times as long as their keys are taken. */
  atFree(start: number, write: (time: number) => void): void {
    for (let time = this.#found.get(start) ?? start; ; time += 1) {
      try {
        write(time);
        if (time > start) this.#remember(start, time);
        return;
      } catch (error) {
        const isTaken = String(error).includes("UNIQUE constraint failed: runs.key");
        if (!isTaken || time === start + MAX_SHIFT_MICROS) throw error;
      }
    }
  }

  #remember(start: number, time: number): void {
    if (this.#found.size >= MAX_REMEMBERED) this.#found.clear();
    this.#found.set(start, time);
  }
}
