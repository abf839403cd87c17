import type { CronRow } from "../../db/crons-repo.ts";
import type { Principal } from "../../lib/principal.ts";
import { toIso } from "../../lib/time.ts";

/** A cron as the API tells it. */
export type CronJson = {
  cron_id: string;
  assistant_id: string;
  thread_id: string | null;
  on_run_completed: "delete" | "keep" | null;
  end_time: string | null;
  schedule: string;
  timezone: string | null;
  created_at: string;
  updated_at: string;
  user_id: string | null;
  payload: Record<string, unknown>;
  next_run_date: string | null;
  metadata: Record<string, unknown>;
  enabled: boolean;
};

export function toCronJson(row: CronRow): CronJson {
  return {
    cron_id: row.cron_id,
    assistant_id: row.assistant_id,
    thread_id: row.thread_id,
    on_run_completed: row.on_run_completed,
    end_time: isoOf(row.end_time),
    schedule: row.schedule,
    timezone: row.timezone,
    created_at: toIso(row.created_at),
    updated_at: toIso(row.updated_at),
    user_id: principalOf(row)?.user.identity ?? null,
    payload: JSON.parse(row.payload),
    next_run_date: isoOf(row.next_run_at),
    metadata: JSON.parse(row.metadata),
    enabled: row.enabled === 1,
  };
}

/** Whom the cron's runs work for. */
export function principalOf({ principal }: Pick<CronRow, "principal">): Principal | null {
  return principal === null ? null : JSON.parse(principal);
}

function isoOf(millis: number | null): string | null {
  return millis === null ? null : toIso(millis);
}
