/** A time that never goes back, and the reading of the clock that it was taken at. */
export type SteadyTime = { time: number; reading: number };

/**
 * The time at another reading of the clock. What a clock was set back by is not counted, and time
 * goes on from there; a step ahead cannot be told from time that has passed.
 */
export function advance({ time, reading }: SteadyTime, newReading: number): SteadyTime {
  return { time: time + Math.max(0, newReading - reading), reading: newReading };
}
