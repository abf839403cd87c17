import type { Scope } from "../../lib/scope.ts";

export type CreateThreadRequest = {
  scope: Scope;
  thread_id: string;
  metadata: Record<string, unknown>;
  if_exists: "raise" | "do_nothing";
};

export type EventsQuery = {
  last_event_id: number | null;
  modes: string[] | null;
  cancel_on_disconnect: boolean;
};
