import type { AuthInfo } from "../../graph-runtime/protocol.ts";
import type { AppContext } from "../../http/app-types.ts";
import { requestedGraphs } from "../graph-host.ts";
import { RevisionCache } from "../revision-cache.ts";

const known = new RevisionCache<{ auth: AuthInfo | null }>();

/** How the project authenticates; null when it leaves that to the platform. */
export async function projectAuthInfo(c: AppContext): Promise<AuthInfo | null> {
  const { auth } = known.get(c) ?? known.set(c, await describedAuth(c));
  return auth;
}

async function describedAuth(c: AppContext): Promise<{ auth: AuthInfo | null }> {
  const { auth } = await requestedGraphs(c).describe();
  return { auth };
}
