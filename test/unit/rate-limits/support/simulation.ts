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
  /** Requests a second over all isolates, as a multiple of the limit's rate. */
  load: number;
  /** Number of the limit's intervals to simulate. */
  intervals: number;
  /** Maximum number of requests that come at once. */
  burst: number;
  /** Maximum latency between isolate and object, one way. */
  latencyMs: number;
  /** Number of faults in each interval, for the object and for each isolate. */
  faults: number;
  seed: number;
};

export type Outcome = {
  /** Times at which requests were admitted, in order. */
  admitted: number[];
  refused: number;
  /** Number of calls of the object, and of those that a request waited for. */
  asked: number;
  waited: number;
};

const HOUR_MS = 3_600_000;

/** Simulates the object and the isolates of one limit and client in virtual time. */
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

/** An object that restarts with its stored state. Its clock is set back by any time, and ahead within the margin. */
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
    // Several steps within one window add up, so each is a fraction of the margin.
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

/** An isolate that may restart. Its clock is set ahead by any time, and back by visible steps. */
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
    // A clock that is set back by less than the time since its last reading looks right, so it is set back further.
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

/** Returns a generator of numbers below 1 that depend only on the seed. */
function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
