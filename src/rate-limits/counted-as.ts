import type { Settings } from "../env.ts";
import type { AppContext } from "../http/app-types.ts";
import { apiKeyOf } from "../identity/authenticate.ts";
import { hashApiKey } from "../identity/api-key.ts";
import { findKeyCached } from "../identity/key-cache.ts";
import { clientAddress } from "./client-address.ts";
import { matchingRows } from "./match-row.ts";
import type { CountedBy, Limit, LimitRow } from "./policy.ts";

/** A limit that counts a request, and for whom. */
export type CountedAs = {
  name: string;
  limit: Limit;
  /** Hexadecimal SHA-256 of what it is counted by. */
  partition: string;
};

type Partition = { hash: string; workspaceId: string | null };

/**
 * The limits that count a request, each of which has to admit it: the first that matches, and for which
 * the request has what it counts by. One by user only comes on top of one by address, and after it,
 * because a client can name any number of users.
 */
export async function countedAs(c: AppContext, settings: Settings): Promise<CountedAs[]> {
  const partitions = new Map<CountedBy, Partition | null>();
  let byUser: CountedAs | null = null;
  for (const row of matchingRows(c.req.method, c.req.path)) {
    let partition = partitions.get(row.by);
    if (partition === undefined) {
      partition = await PARTITION_OF[row.by](c, settings);
      partitions.set(row.by, partition);
    }
    if (partition === null) continue;
    const limit = limitOf(row, partition, settings);
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

const PARTITION_OF: Readonly<
  Record<CountedBy, (c: AppContext, settings: Settings) => Promise<Partition | null>>
> = { "api-key": keyPartition, user: userPartition, ip: addressPartition };

/** None of what is no key: else whoever makes keys up would have a budget for each. */
async function keyPartition(c: AppContext): Promise<Partition | null> {
  const key = apiKeyOf(c);
  if (!key) return null;
  const hash = await hashApiKey(key);
  try {
    const identity = await findKeyCached(c.env.DB, hash);
    return identity === undefined ? null : { hash, workspaceId: identity.workspace_id };
  } catch {
    // Who cannot be asked about the key answers the request with an error, if it is needed.
    return { hash, workspaceId: null };
  }
}

async function userPartition(c: AppContext, settings: Settings): Promise<Partition | null> {
  const user = c.req.header("x-user-id");
  return user ? partitionOf("user", user, addressOf(c, settings)) : null;
}

async function addressPartition(c: AppContext, settings: Settings): Promise<Partition> {
  return partitionOf("ip", addressOf(c, settings));
}

function addressOf(c: AppContext, { trustedProxies }: Settings): string {
  const connecting = c.req.header("cf-connecting-ip");
  return clientAddress({ connecting, forwarded: c.req.header("x-forwarded-for") }, trustedProxies);
}

async function partitionOf(...parts: string[]): Promise<Partition> {
  return { hash: await hashApiKey(JSON.stringify(parts)), workspaceId: null };
}
