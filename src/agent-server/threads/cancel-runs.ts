import { findThreads } from "../../db/threads-repo.ts";
import { ApiError, invalidField } from "../../lib/api-error.ts";
import type { MetadataFilter } from "../../lib/metadata-filter.ts";
import { CONNECTIONS, mapLimited } from "../../lib/map-limited.ts";
import type { AgentCall } from "../agent-call.ts";
import { authorize } from "../auth/authorize.ts";
import { threadWith } from "../auth/thread-access.ts";
import type { CancelAction } from "./runs/execution.ts";
import type { CancelTarget } from "./run-schemas.ts";
import { threadDatabase } from "./index/thread-databases.ts";

/** Maximum threads per request. A client with more of them repeats the request until none is left. */
const MAX_THREADS = 500;

/**
 * Cancels the named runs of a thread, or the runs with a status on those threads that the index shows as busy, the
 * least recently updated first. Throws `not_found` if there are none.
 */
export async function cancelRuns(
  call: AgentCall,
  target: CancelTarget,
  action: Extract<CancelAction, "interrupt" | "rollback">,
): Promise<void> {
  const isNamed = "run_ids" in target;
  const access = await authorize(call, "threads:update", {
    action,
    ...(isNamed
      ? { thread_id: target.thread_id, metadata: { run_ids: target.run_ids } }
      : { metadata: { status: target.status } }),
  });
  const threadIds = isNamed ? [target.thread_id] : await busyThreads(call, access.filter);
  const found = await mapLimited(threadIds, CONNECTIONS, (id) =>
    threadWith(call, id, access).cancelRuns(target, action),
  );
  if (!found.some((count) => count > 0)) throw new ApiError("not_found", "No runs found to cancel");
}

async function busyThreads(
  { env, scope }: AgentCall,
  access: MetadataFilter | null,
): Promise<string[]> {
  const found = await findThreads(threadDatabase(env, scope), scope, {
    filter: { access, status: "busy" },
    order: { by: "updated_at", direction: "asc" },
    limit: MAX_THREADS,
    offset: 0,
    withValues: false,
  });
  if (found === null) {
    const msg = "There are too many threads to look at all of them: name the runs with run_ids";
    throw invalidField(["body", "status"], msg, "search_too_large");
  }
  return found.page.map(({ key }) => String(key));
}
