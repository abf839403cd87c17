import { type OAuthAttemptRow, selectOAuthAttempt } from "../../db/oauth-attempts-repo.ts";
import { selectOAuthProviderById } from "../../db/oauth-providers-repo.ts";
import { selectOAuthToken } from "../../db/oauth-tokens-repo.ts";
import type { WorkspaceDeps } from "./deps.ts";
import type { WaitJson } from "./schemas.ts";
import { usableToken } from "./refresh-token.ts";

/** Polls are frequent at first, when the user may be about to return, and rarer later, to save queries. */
const POLLS = [
  { forMs: 20_000, everyMs: 250 },
  { forMs: Number.POSITIVE_INFINITY, everyMs: 1000 },
] as const;

const NOT_FOUND: WaitJson = answer("not_found");

/**
 * Waits up to `timeoutMs` for the end of one of the workspace's attempts. Returns its result, or that it has not
 * ended. If `user` is given, the attempt must be that user's.
 */
export async function waitForToken(
  deps: WorkspaceDeps,
  { authId, user, timeoutMs }: { authId: string; user: string | undefined; timeoutMs: number },
): Promise<WaitJson> {
  const startedAt = Date.now();
  const endsAt = startedAt + timeoutMs;
  for (;;) {
    const attempt = await selectOAuthAttempt(deps.db, authId);
    if (attempt === undefined || !isVisible(attempt, deps.workspaceId, user)) return NOT_FOUND;
    const ended = await endOf(deps, attempt);
    if (ended !== null) return ended;
    const now = Date.now();
    if (now >= endsAt) return answer(timeoutMs === 0 ? "pending" : "timeout");
    await scheduler.wait(Math.min(pauseAfter(now - startedAt), endsAt - now));
  }
}

function isVisible(
  attempt: OAuthAttemptRow,
  workspaceId: string,
  user: string | undefined,
): boolean {
  if (attempt.workspace_id !== workspaceId) return false;
  return user === undefined || user === attempt.user_id;
}

/** Returns null while the attempt has not ended. */
async function endOf(deps: WorkspaceDeps, attempt: OAuthAttemptRow): Promise<WaitJson | null> {
  switch (attempt.status) {
    case "completed":
      return completed(deps, attempt);
    case "failed":
      return answer("not_found", {
        error: attempt.error,
        error_description: attempt.error_description,
      });
    case "pending":
    case "exchanging":
      return attempt.expires_at > Date.now() ? null : NOT_FOUND;
  }
}

async function completed(deps: WorkspaceDeps, attempt: OAuthAttemptRow): Promise<WaitJson> {
  const { workspace_id: workspaceId, user_id: userId, token_id: tokenId } = attempt;
  const [provider, stored] = await Promise.all([
    selectOAuthProviderById(deps.db, workspaceId, attempt.provider),
    selectOAuthToken(deps.db, { workspaceId, userId }, tokenId ?? ""),
  ]);
  if (provider === undefined || stored === undefined) return NOT_FOUND;
  // The token is new. Its remaining lifetime is the provider's choice, so no margin is required.
  const usable = await deps.keepGoing(usableToken(deps, provider, stored.token, 0));
  return usable.status === "usable"
    ? answer("completed", { token: usable.accessToken })
    : answer("not_found", {
        error: "token_expired",
        error_description: "The token has expired, and could not be refreshed",
      });
}

function answer(status: WaitJson["status"], more: Partial<WaitJson> = {}): WaitJson {
  return { status, token: null, error: null, error_description: null, ...more };
}

function pauseAfter(elapsedMs: number): number {
  return POLLS.find(({ forMs }) => elapsedMs < forMs)?.everyMs ?? POLLS[1].everyMs;
}
