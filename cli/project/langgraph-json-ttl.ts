import { z } from "zod";
import { MAX_TTL_MINUTES } from "../../src/lib/time.ts";

const interval = z.number().positive().nullish();

/** `sweep_*` are known and do nothing: each thread wakes by itself when its time is over. */
export const checkpointerSchema = z.looseObject({
  ttl: z
    .strictObject({
      strategy: z.enum(["delete", "keep_latest"]).nullish(),
      default_ttl: z.number().positive().max(MAX_TTL_MINUTES).nullish(),
      sweep_interval_minutes: interval,
      sweep_limit: interval,
    })
    .nullish(),
});

type CheckpointerConfig = z.infer<typeof checkpointerSchema> | null | undefined;

export type ThreadTtl = { strategy: "delete" | "keep_latest"; minutes: number };

/** What becomes of threads that say nothing themselves; null when they stay. */
export function readThreadTtl(config: CheckpointerConfig): ThreadTtl | null {
  const { strategy, default_ttl } = config?.ttl ?? {};
  return default_ttl ? { strategy: strategy ?? "delete", minutes: default_ttl } : null;
}

export function checkpointerWarnings(config: CheckpointerConfig): string[] {
  const others = Object.keys(config ?? {}).filter((key) => key !== "ttl");
  return others.map((key) => `"checkpointer.${key}" has no effect`);
}
