import type { ItemTtl } from "./store-operations.ts";

/** The settings of the store in a project's `langgraph.json`. */
export type StoreSettings = {
  ttl: {
    /** Whether reading an item restarts its lifetime. */
    refresh_on_read: boolean;
    /** Default lifetime in minutes; with null an item does not expire unless its put says so. */
    default_ttl: number | null;
    sweep_interval_minutes: number;
  };
  /** Null when the store has no index, and therefore no searches by meaning. */
  index: { dims: number; fields: string[] } | null;
};

export const DEFAULT_STORE: StoreSettings = {
  ttl: { refresh_on_read: true, default_ttl: null, sweep_interval_minutes: 5 },
  index: null,
};

/**
 * Returns the lifetime of an item. `minutes` comes from its put: undefined applies the project's default,
 * null never expires.
 */
export function itemTtl(
  { ttl }: StoreSettings,
  minutes: number | null | undefined,
): ItemTtl | undefined {
  const lifetime = minutes === undefined ? ttl.default_ttl : minutes;
  if (lifetime === null) return undefined;
  return { minutes: lifetime, sweep_minutes: ttl.sweep_interval_minutes };
}
