import { selectPrivateEndpoint } from "../db/private-endpoints-repo.ts";
import { type AddressRange, parseAddressRange } from "../lib/address-range.ts";
import { isolateCache } from "../lib/isolate-cache.ts";
import { isAtLeast } from "../lib/plan-order.ts";
import { workspacePlan } from "./workspace-plan.ts";

/** By which hosts, and from where, a workspace may be reached. */
export type PrivateEndpointSettings = {
  /** Whether the private hosts serve it. */
  enrolled: boolean;
  /** Whether the public hosts refuse it. */
  privateOnly: boolean;
  /** The networks that its requests to the private hosts come from; an empty list allows any. */
  networks: readonly AddressRange[];
  isEnterprise: boolean;
};

const NOT_ENROLLED: PrivateEndpointSettings = {
  enrolled: false,
  privateOnly: false,
  networks: [],
  isEnterprise: false,
};

/** The settings by workspace. Every request needs them, so a change takes five seconds to be seen. */
const recentSettings = isolateCache<string, PrivateEndpointSettings>({
  maxEntries: 10_000,
  ttlMs: 5_000,
});

/** The settings of a workspace, from this isolate's memory for a few seconds. */
export async function privateEndpointSettings(
  env: Env,
  workspaceId: string,
): Promise<PrivateEndpointSettings> {
  const known = recentSettings.get(workspaceId);
  if (known !== undefined) return known;
  const settings = await readSettings(env, workspaceId);
  recentSettings.set(workspaceId, settings);
  return settings;
}

async function readSettings(env: Env, workspaceId: string): Promise<PrivateEndpointSettings> {
  const row = await selectPrivateEndpoint(env.DB, workspaceId);
  if (row === undefined) return NOT_ENROLLED;
  return {
    enrolled: true,
    privateOnly: row.private_only,
    networks: (JSON.parse(row.networks) as string[]).map(parseAddressRange),
    isEnterprise: isAtLeast(await workspacePlan(env, workspaceId), "enterprise"),
  };
}
