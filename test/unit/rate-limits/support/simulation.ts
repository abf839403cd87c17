import { decideAdmission } from "../../../../src/rate-limits/decide.ts";
import { LocalLimiters } from "../../../../src/rate-limits/local-limiter.ts";
import {
  SlidingWindow,
  type TakeAnswer,
  type TakeRequest,
  type WindowState,
  windowTimes,
} from "../../../../src/rate-limits/sliding-window.ts";
import type { Limit } from "../../../../src/rate-limits/policy.ts";
import { VirtualTime } from "./virtual-time.ts";

export type Traffic = {
  limit: Limit;
  isolates: number;
  /** Requests a second, of all isolates, as a multiple of what the limit allows. */
  load: number;
  /** How often the limit's interval passes. */
  intervals: number;
  /** Up to so many requests come at once. */
  burst: number;
  /** Between isolate and object, one way, at most. */
  latencyMs: number;
  /** How often things go wrong, in each interval: of the object, and of each isolate. */
  faults: number;
  seed: number;
};

export type Outcome = {
  /** When requests were admitted, in order. */
  admitted: number[];
  refused: number;
  /** Calls of the object, and those of them that a request waited for. */
  asked: number;
  waited: number;
};

const HOUR_MS = 3_600_000;

/** Runs the object and the isolates of one limit and client on a time of their own. */
export async function simulate(traffic: Traffic): Promise<Outcome> {
  const time = new VirtualTime();
  const random = randomOf(traffic.seed);
  const end = traffic.intervals * traffic.limit.seconds * 1000;
  const outcome: Outcome = { admitted: [], refused: 0, asked: 0, waited: 0 };
  const object = new SimulatedObject(time, traffic, random, outcome);
  const weights = Array.from({ length: traffic.isolates }, () => 0.1 + random());
  const allWeights = weights.reduce((sum, weight) => sum + weight, 0);
  const loops = weights.map((weight) => {
    const isolate = new SimulatedIsolate(time, traffic, random, outcome, object);
    return isolate.run(end, weight / allWeights);
  });
  loops.push(object.run(end));
  await time.runUntil(end + HOUR_MS);
  await Promise.all(loops);
  outcome.admitted.sort((left, right) => left - right);
  return outcome;
}

/** What is on disk survives; the clock is set back by any time, and ahead within the margin. */
class SimulatedObject {
  readonly #time: VirtualTime;
  readonly #traffic: Traffic;
  readonly #random: () => number;
  readonly #outcome: Outcome;
  readonly #mayStepAheadMs: number;
  #window: SlidingWindow;
  #stored = "null";
  #offset = 1_700_000_000_000;
  #lease = 0;

  constructor(time: VirtualTime, traffic: Traffic, random: () => number, outcome: Outcome) {
    this.#time = time;
    this.#traffic = traffic;
    this.#random = random;
    this.#outcome = outcome;
    const { windowMs } = windowTimes(traffic.limit);
    // Steps within any one window add up, and there are a few in one.
    this.#mayStepAheadMs = (windowMs - traffic.limit.seconds * 1000) / 50;
    this.#window = this.#open();
  }

  take(request: TakeRequest): TakeAnswer {
    this.#outcome.asked += 1;
    this.#outcome.waited += request.needed;
    const answer = this.#window.take(request, this.#reading());
    if (answer.admitted && (request.needed > 0 || answer.lease !== null)) {
      this.#stored = JSON.stringify(this.#window.state());
    }
    return answer;
  }

  async run(end: number): Promise<void> {
    const { faults, limit } = this.#traffic;
    if (faults === 0) return;
    while (this.#time.now < end) {
      const ms = (exponential(this.#random) * limit.seconds * 1000) / faults;
      await this.#time.wait(Math.min(ms, end - this.#time.now));
      const kind = this.#random();
      if (kind < 0.3) this.#offset -= this.#random() * HOUR_MS;
      else if (kind < 0.5) this.#offset += this.#random() * this.#mayStepAheadMs;
      if (kind > 0.4) this.#window = this.#open();
    }
  }

  #open(): SlidingWindow {
    const stored = JSON.parse(this.#stored) as WindowState | null;
    return new SlidingWindow(stored, this.#reading(), () => {
      this.#lease += 1;
      return this.#lease;
    });
  }

  #reading(): number {
    return Math.floor(this.#time.now + this.#offset);
  }
}

/** Its clock is set ahead by any time, and back by steps that show; it may end and begin anew. */
class SimulatedIsolate {
  readonly #time: VirtualTime;
  readonly #traffic: Traffic;
  readonly #random: () => number;
  readonly #outcome: Outcome;
  readonly #object: SimulatedObject;
  #limiters: LocalLimiters;
  #offset: number;
  #lastReading = 0;
  #wasSetBack = false;

  constructor(
    time: VirtualTime,
    traffic: Traffic,
    random: () => number,
    outcome: Outcome,
    object: SimulatedObject,
  ) {
    this.#time = time;
    this.#traffic = traffic;
    this.#random = random;
    this.#outcome = outcome;
    this.#object = object;
    this.#offset = 1_600_000_000_000 + random() * HOUR_MS;
    this.#limiters = this.#begin();
  }

  async run(end: number, share: number): Promise<void> {
    const { limit, load, burst, faults } = this.#traffic;
    const bursts = ((load * limit.count) / (limit.seconds * 1000)) * share * (2 / (burst + 1));
    const faultsPerBurst = faults / (bursts * limit.seconds * 1000);
    for (;;) {
      await this.#time.wait(Math.min(exponential(this.#random) / bursts, end - this.#time.now));
      if (this.#time.now >= end) return;
      const requests = 1 + Math.floor(this.#random() * burst);
      for (let count = 0; count < requests; count += 1) void this.#request();
      if (this.#random() < faultsPerBurst) this.#fail();
    }
  }

  async #request(): Promise<void> {
    const { limit } = this.#traffic;
    const { now } = this.#limiters;
    const limiter = this.#limiters.get("the only one");
    const startedAt = this.#time.now;
    let admittedAt: number | null = null;
    const decision = await decideAdmission(limiter, limit, {
      ask: async (request) => {
        await this.#hop();
        this.#mayLose();
        const answer = this.#object.take(request);
        if (request.needed > 0) admittedAt = this.#time.now;
        await this.#hop();
        this.#mayLose();
        return answer;
      },
      now,
      goOn: (work) => void work,
      wait: (ms) => this.#time.wait(ms),
      onUnreachable: () => undefined,
    });
    if (decision.kind === "admitted") this.#outcome.admitted.push(admittedAt ?? startedAt);
    if (decision.kind === "refused") this.#outcome.refused += 1;
  }

  #fail(): void {
    const kind = this.#random();
    if (kind < 0.3) this.#limiters = this.#begin();
    else if (kind < 0.6) this.#offset += this.#random() * HOUR_MS;
    else {
      this.#offset -= this.#random() * HOUR_MS;
      this.#wasSetBack = true;
    }
  }

  #begin(): LocalLimiters {
    return new LocalLimiters(() => this.#reading());
  }

  #hop(): Promise<void> {
    return this.#time.wait(this.#random() * this.#traffic.latencyMs);
  }

  #mayLose(): void {
    if (this.#traffic.faults > 0 && this.#random() < 0.01) throw new Error("lost");
  }

  #reading(): number {
    let reading = Math.floor(this.#time.now + this.#offset);
    // Set back by less than what has passed since, a clock looks right.
    if (this.#wasSetBack && reading >= this.#lastReading) {
      this.#offset -= reading - this.#lastReading + 1;
      reading = this.#lastReading - 1;
    }
    this.#wasSetBack = false;
    this.#lastReading = reading;
    return reading;
  }
}

function exponential(random: () => number): number {
  return -Math.log(1 - random());
}

/** A generator of numbers below 1 that the seed decides. */
function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
