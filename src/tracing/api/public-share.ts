import type { RunShareRow } from "../../db/run-shares-repo.ts";
import type { AppContext } from "../../http/app-types.ts";
import { admitWorkspace } from "../../identity/private-connectivity.ts";
import { findShare } from "../shares/shared-runs.ts";

/** The share of a public request, on a host where its workspace may be seen; 404 when there is none. */
export async function requireShare(c: AppContext, token: string): Promise<RunShareRow> {
  const share = await findShare(c.env.DB, token);
  await admitWorkspace(c, share.workspace_id);
  return share;
}
