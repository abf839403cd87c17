import { selectPrivateEndpoint } from "../db/private-endpoints-repo.ts";
import { type AddressRange, parseAddressRange } from "../lib/address-range.ts";
import { isolateCache } from "../lib/isolate-cache.ts";
import { isAtLeast } from "../lib/plan-order.ts";
import { workspacePlan } from "./workspace-plan.ts";

/** How a workspace may be reached. */
export type Enrolment = {
  /** By the private hosts. */
  enrolled: boolean;
  /** And by no others. */
  privateOnly: boolean;
  /** From these addresses; empty: any. */
  networks: readonly AddressRange[];
  isEnterprise: boolean;
};

const NOT_ENROLLED: Enrolment = {
  enrolled: false,
  privateOnly: false,
  networks: [],
  isEnterprise: false,
};

/** By workspace. Every request needs the answer, so a change takes five seconds to be seen. */
const enrolments = isolateCache<string, Enrolment>({ maxEntries: 10_000, ttlMs: 5_000 });

/** How a workspace may be reached, from this isolate's memory for a few seconds. */
export async function enrolmentOf(env: Env, workspaceId: string): Promise<Enrolment> {
  const known = enrolments.get(workspaceId);
  if (known !== undefined) return known;
  const enrolment = await readEnrolment(env, workspaceId);
  enrolments.set(workspaceId, enrolment);
  return enrolment;
}

async function readEnrolment(env: Env, workspaceId: string): Promise<Enrolment> {
  const row = await selectPrivateEndpoint(env.DB, workspaceId);
  if (row === undefined) return NOT_ENROLLED;
  return {
    enrolled: true,
    privateOnly: row.private_only,
    networks: (JSON.parse(row.networks) as string[]).map(parseAddressRange),
    isEnterprise: isAtLeast(await workspacePlan(env, workspaceId), "enterprise"),
  };
}
