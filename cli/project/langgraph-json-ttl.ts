import { z } from "zod";
import { MAX_TTL_MINUTES } from "../../src/lib/time.ts";

const interval = z.number().positive().nullish();

/** `sweep_*` are accepted and have no effect: each thread wakes by itself when it expires. */
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

/** Returns what happens to threads without a setting of their own; null when they are kept. */
export function readThreadTtl(config: CheckpointerConfig): ThreadTtl | null {
  const { strategy, default_ttl } = config?.ttl ?? {};
  return default_ttl ? { strategy: strategy ?? "delete", minutes: default_ttl } : null;
}

export function checkpointerWarnings(config: CheckpointerConfig): string[] {
  const others = Object.keys(config ?? {}).filter((key) => key !== "ttl");
  return others.map((key) => `"checkpointer.${key}" has no effect`);
}
