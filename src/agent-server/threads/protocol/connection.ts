import type { MetadataFilter } from "../../../lib/metadata-filter.ts";
import type { Principal } from "../../../lib/principal.ts";
import type { RevisionRef } from "../../../lib/revision-ref.ts";
import type { Scope } from "../../../lib/scope.ts";
import type { EventFilter } from "./event-filter.ts";

/** The owner of a connection for as long as it lasts: each of its commands is authorized as theirs. */
export type ConnectionCaller = {
  scope: Scope;
  revision: RevisionRef | null;
  principal: Principal | null;
};

/** The data with which a connection is opened. */
export type ConnectionRequest = {
  thread_id: string;
  caller: ConnectionCaller;
  /** The filter of the threads that the caller may see. */
  filter: MetadataFilter | null;
};

export type Subscription = { id: string; filter: EventFilter };

/** All data of a connection that is needed after its object was evicted from memory. */
export type ConnectionRecord = ConnectionRequest & {
  subscriptions: Subscription[];
  /** The number of the latest event that was sent. */
  after: number;
};

/** Header of the upgrade in which the Worker passes the connection's data to the thread's object. */
const CONNECTION_HEADER = "x-threadworks-connection";

/**
 * Maximum characters of the record that the platform keeps for a hibernating connection, including its
 * subscriptions.
 */
export const MAX_RECORD_CHARS = 15_000;

const MAX_REQUEST_CHARS = 8000;

/**
 * Returns the upgrade request for the thread's object; null if the identity is too large to be kept with the
 * connection.
 */
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
