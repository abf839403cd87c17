/** Enough turns for everything that follows from one event without waiting. */
const MICROTASKS = 24;

type Event = { at: number; order: number; run: () => void };

/** Time that passes only when nothing is left to do, so that hours of it take seconds. */
export class VirtualTime {
  now = 0;
  readonly #events: Event[] = [];
  #order = 0;

  /** Resolves after `ms` milliseconds of virtual time. */
  wait(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#push({ at: this.now + Math.max(0, ms), order: (this.#order += 1), run: resolve });
    return promise;
  }

  /** Runs everything up to the time `end`. */
  async runUntil(end: number): Promise<void> {
    for (;;) {
      await settled();
      const [next] = this.#events;
      if (next === undefined || next.at > end) break;
      this.#pop();
      this.now = next.at;
      next.run();
    }
    this.now = end;
  }

  #push(event: Event): void {
    const events = this.#events;
    let index = events.push(event) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!this.#swapIfBefore(index, parent)) break;
      index = parent;
    }
  }

  #pop(): void {
    const events = this.#events;
    const last = events.pop();
    if (last === undefined || events.length === 0) return;
    events[0] = last;
    let index = 0;
    for (;;) {
      const [left, right] = [2 * index + 1, 2 * index + 2];
      const child = isBefore(events[right], events[left]) ? right : left;
      if (!this.#swapIfBefore(child, index)) break;
      index = child;
    }
  }

  #swapIfBefore(index: number, other: number): boolean {
    const [first, second] = [this.#events[index], this.#events[other]];
    if (first === undefined || second === undefined || !isBefore(first, second)) return false;
    this.#events[other] = first;
    this.#events[index] = second;
    return true;
  }
}

function isBefore(first: Event | undefined, second: Event | undefined): boolean {
  if (first === undefined || second === undefined) return first !== undefined;
  return first.at < second.at || (first.at === second.at && first.order < second.order);
}

async function settled(): Promise<void> {
  for (let count = 0; count < MICROTASKS; count += 1) await Promise.resolve();
}
