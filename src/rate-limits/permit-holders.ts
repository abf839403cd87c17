import { PermitHolder } from "./permit-holder.ts";

const MAX_HOLDERS = 10_000;

/** The holders of this isolate, by the name of the object that counts for them. */
export class PermitHolders {
  readonly #holders = new Map<string, PermitHolder>();
  readonly #clock: () => number;
  readonly #max: number;
  #lastReading = 0;

  constructor(clock: () => number, max = MAX_HOLDERS) {
    this.#clock = clock;
    this.#max = max;
  }

  /** The isolate's time, for all that holders are asked. */
  readonly now = (): number => {
    const reading = this.#clock();
    // Set back, it would let leases live longer than they do.
    if (reading < this.#lastReading) this.#forgetAll();
    this.#lastReading = reading;
    return reading;
  };

  get(name: string): PermitHolder {
    const known = this.#holders.get(name);
    if (known !== undefined) return known;
    if (this.#holders.size >= this.#max) this.#clear(this.now());
    const holder = new PermitHolder();
    this.#holders.set(name, holder);
    return holder;
  }

  #forgetAll(): void {
    for (const holder of this.#holders.values()) holder.forget();
  }

  /** Makes room: of those that hold nothing, or of all. A lost lease counts as used at its end. */
  #clear(now: number): void {
    for (const [name, holder] of this.#holders) if (holder.isIdle(now)) this.#holders.delete(name);
    if (this.#holders.size >= this.#max) this.#holders.clear();
  }
}
