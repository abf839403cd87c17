import { Cron } from "croner";
import { messageOf } from "../../lib/error-text.ts";

/** The times of a cron's ticks, in epoch milliseconds. */
export type CronTimes = {
  schedule: string;
  /** IANA name of the time zone; null for UTC. */
  timezone: string | null;
  /** No tick is later than this. */
  end_time: number | null;
};

const NICKNAME = /^@(yearly|annually|monthly|weekly|daily|hourly)$/i;

/** Returns what is wrong with a schedule, as a sentence; null if the schedule is valid. */
export function scheduleFault(schedule: string): string | null {
  const parts = schedule.trim().split(/\s+/);
  // The library would also accept a date, and a sixth part for seconds, which a sweep once a minute cannot follow.
  if (parts.length !== 5 && !NICKNAME.test(schedule.trim())) {
    return "Input should be a cron expression of five parts: minute, hour, day, month, weekday";
  }
  try {
    const first = ticksOf(schedule, null).nextRun();
    return first === null ? "The schedule has no tick" : null;
  } catch (error) {
    const reason = messageOf(error);
    return `Input should be a cron expression: ${reason.replace(/^CronPattern: /, "")}`;
  }
}

export function isTimezone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

/** Returns the first tick after `after`; null if there is none before the end time. */
export function nextTick(
  { schedule, timezone, end_time }: CronTimes,
  after: number,
): number | null {
  const next = ticksOf(schedule, timezone).nextRun(new Date(after))?.getTime() ?? null;
  return next === null || (end_time !== null && next > end_time) ? null : next;
}

function ticksOf(schedule: string, timezone: string | null): Cron {
  return new Cron(schedule.trim(), { timezone: timezone ?? "UTC", mode: "5-part", paused: true });
}
