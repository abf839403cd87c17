import type { Settings } from "../env.ts";
import type { AppContext } from "../http/app-types.ts";
import { sha256Hex } from "../lib/bytes.ts";
import type { CountedBy, Limit, LimitRow } from "./policy.ts";
import { matchingRows } from "./match-row.ts";

/** A limit that counts a request, and the client for which it counts. */
export type ApplicableLimit = {
  name: string;
  limit: Limit;
  /** Hexadecimal SHA-256 of the value by which the limit counts. */
  partition: string;
};

type Partition = { hash: string; workspaceId: string | null };

/**
 * Returns the limits that count a request; each of them must admit it. This is the first matching limit for which
 * the request has the value that it counts by. A limit by user only applies in addition to one by address, and
 * after it, because a client can name any number of users.
 */
export async function applicableLimits(c: AppContext): Promise<ApplicableLimit[]> {
  const partitions = new Map<CountedBy, Partition | null>();
  let byUser: ApplicableLimit | null = null;
  for (const row of matchingRows(c.req.method, c.req.path)) {
    let partition = partitions.get(row.by);
    if (partition === undefined) {
      partition = await PARTITION_OF[row.by](c);
      partitions.set(row.by, partition);
    }
    if (partition === null) continue;
    const limit = limitOf(row, partition, c.var.settings);
    const counted = { name: row.name, limit, partition: partition.hash };
    if (row.by === "user") byUser ??= counted;
    else return row.by === "ip" && byUser !== null ? [counted, byUser] : [counted];
  }
  throw new Error(`No limit matches ${c.req.method} ${c.req.path}`);
}

function limitOf(row: LimitRow, { workspaceId }: Partition, settings: Settings): Limit {
  const { region, rateLimitOverrides } = settings;
  const overrides = workspaceId === null ? undefined : rateLimitOverrides.get(workspaceId);
  return overrides?.get(row.name) ?? row[region];
}

const PARTITION_OF: Readonly<Record<CountedBy, (c: AppContext) => Promise<Partition | null>>> = {
  "api-key": keyPartition,
  user: userPartition,
  ip: ({ var: { arrival } }) => partitionOf("ip", arrival.client),
};

/** Returns null when the key does not exist: otherwise a client could invent keys and get a budget for each. */
async function keyPartition({ var: { arrival } }: AppContext): Promise<Partition | null> {
  const { caller } = arrival;
  if (!caller.key) return null;
  const hash = await caller.hashOf(caller.key);
  try {
    const identity = await caller.recent(caller.key);
    return identity === undefined ? null : { hash, workspaceId: identity.workspace_id };
  } catch {
    // If the lookup fails, the request itself fails with an error later, provided that it needs the key.
    return { hash, workspaceId: null };
  }
}

async function userPartition(c: AppContext): Promise<Partition | null> {
  const user = c.req.header("x-user-id");
  return user ? partitionOf("user", user, c.var.arrival.client) : null;
}

async function partitionOf(...parts: string[]): Promise<Partition> {
  return { hash: await sha256Hex(JSON.stringify(parts)), workspaceId: null };
}
