import type { ItemTtl } from "./store-operations.ts";

/** What a project's `langgraph.json` says of its store. */
export type StoreSettings = {
  ttl: {
    /** Whether an item that is read lives on from then. */
    refresh_on_read: boolean;
    /** Minutes; null: an item lives for ever unless its put says otherwise. */
    default_ttl: number | null;
    sweep_interval_minutes: number;
  };
  /** Null: searches know no meaning. */
  index: { dims: number; fields: string[] } | null;
};

export const DEFAULT_STORE: StoreSettings = {
  ttl: { refresh_on_read: true, default_ttl: null, sweep_interval_minutes: 5 },
  index: null,
};

/** How long an item lives whose put says `minutes`: undefined is the project's default, null is for ever. */
export function itemTtl(
  { ttl }: StoreSettings,
  minutes: number | null | undefined,
): ItemTtl | undefined {
  const lifetime = minutes === undefined ? ttl.default_ttl : minutes;
  if (lifetime === null) return undefined;
  return { minutes: lifetime, sweep_minutes: ttl.sweep_interval_minutes };
}
