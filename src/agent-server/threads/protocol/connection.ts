import type { MetadataFilter } from "../../../lib/metadata-filter.ts";
import type { Principal } from "../../../lib/principal.ts";
import type { RevisionRef } from "../../../lib/revision-ref.ts";
import type { Scope } from "../../../lib/scope.ts";
import type { EventFilter } from "./event-filter.ts";

/** Who has a connection, for as long as it lasts: each of its commands is authorized as theirs. */
export type ConnectionCaller = {
  scope: Scope;
  revision: RevisionRef | null;
  principal: Principal | null;
};

/** What a connection is opened with. */
export type ConnectionRequest = {
  thread_id: string;
  caller: ConnectionCaller;
  /** Which threads the caller sees. */
  filter: MetadataFilter | null;
};

export type Subscription = { id: string; filter: EventFilter };

/** All there is to know of a connection when its object has been away from memory. */
export type ConnectionRecord = ConnectionRequest & {
  subscriptions: Subscription[];
  /** The number of the last event that was sent. */
  after: number;
};

/** By which header of the upgrade the Worker tells the thread's object who connects. */
const CONNECTION_HEADER = "x-threadworks-connection";

/** What the platform keeps beside a sleeping connection, with room for its subscriptions. */
export const MAX_RECORD_CHARS = 15_000;

const MAX_REQUEST_CHARS = 8000;

/** The upgrade as the thread's object gets it; null for an identity that is too large to be kept beside it. */
export function upgradeRequest(request: ConnectionRequest): Request | null {
  const text = encodeURIComponent(JSON.stringify(request));
  if (text.length > MAX_REQUEST_CHARS) return null;
  const headers = { upgrade: "websocket", [CONNECTION_HEADER]: text };
  return new Request("https://thread/connection", { headers });
}

export function connectionRequestOf(request: Request): ConnectionRequest | null {
  const text = request.headers.get(CONNECTION_HEADER);
  return text === null ? null : JSON.parse(decodeURIComponent(text));
}
