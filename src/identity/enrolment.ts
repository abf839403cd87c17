import { selectPrivateEndpoint } from "../db/private-endpoints-repo.ts";
import { isAtLeast } from "../lib/plan-order.ts";
import { workspacePlan } from "./workspace-plan.ts";

/** How a workspace may be reached. */
export type Enrolment = {
  /** By the private hosts. */
  enrolled: boolean;
  /** And by no others. */
  privateOnly: boolean;
  /** From these addresses; empty: any. */
  networks: readonly string[];
  isEnterprise: boolean;
};

const NOT_ENROLLED: Enrolment = {
  enrolled: false,
  privateOnly: false,
  networks: [],
  isEnterprise: false,
};

/** How long a change takes to be seen: every request needs the answer. */
const TTL_MS = 5_000;

const MAX_REMEMBERED = 10_000;

const remembered = new Map<string, { enrolment: Enrolment; until: number }>();

/** Of a workspace, from this isolate's memory for a few seconds. */
export async function enrolmentOf(env: Env, workspaceId: string): Promise<Enrolment> {
  const now = Date.now();
  const known = remembered.get(workspaceId);
  if (known !== undefined && now < known.until) return known.enrolment;
  const enrolment = await readEnrolment(env, workspaceId);
  if (remembered.size >= MAX_REMEMBERED) remembered.clear();
  remembered.set(workspaceId, { enrolment, until: now + TTL_MS });
  return enrolment;
}

async function readEnrolment(env: Env, workspaceId: string): Promise<Enrolment> {
  const row = await selectPrivateEndpoint(env.DB, workspaceId);
  if (row === undefined) return NOT_ENROLLED;
  return {
    enrolled: true,
    privateOnly: row.private_only,
    networks: JSON.parse(row.networks) as string[],
    isEnterprise: isAtLeast(await workspacePlan(env, workspaceId), "enterprise"),
  };
}
