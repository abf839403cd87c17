import { v7 as uuid } from "uuid";
import {
  claimOAuthAttempt,
  completeOAuthAttempt,
  failOAuthAttempt,
  type OAuthAttemptRow,
  selectOAuthAttempt,
} from "../../db/oauth-attempts-repo.ts";
import { type OAuthProviderRow, selectOAuthProviderById } from "../../db/oauth-providers-repo.ts";
import { log } from "../../lib/log.ts";
import type { OAuthDeps } from "./deps.ts";
import { failureOf, type OAuthFailure } from "./provider-answers.ts";
import { openOAuth, sealTokens } from "./sealed-secrets.ts";
import { ATTEMPT_TTL_MS } from "./start-attempt.ts";
import { exchangeCode, type TokenGrant } from "./token-endpoint.ts";

/** The parameters with which a provider sends the user's browser back. */
export type ProviderAnswer = {
  /** The provider's name from the URL. */
  providerId: string;
  state?: string | undefined;
  code?: string | undefined;
  error?: string | undefined;
  errorDescription?: string | undefined;
  /** The workspace of the request's key, if there is one. */
  workspaceId?: string | undefined;
};

export type AttemptOutcome = {
  providerId: string;
  /** Null when the answer belongs to no attempt. */
  authId: string | null;
  failure: OAuthFailure | null;
};

/** Ends the attempt named by `state`, which can be done once: with a token, or with a failure. */
export async function finishAttempt(
  deps: OAuthDeps,
  answer: ProviderAnswer,
): Promise<AttemptOutcome> {
  const { providerId, state } = answer;
  if (state === undefined || state === "") {
    return refused(providerId, null, "The answer has no state, so it belongs to no attempt");
  }
  const attempt = await selectOAuthAttempt(deps.db, state);
  const isForeign =
    answer.workspaceId !== undefined && attempt?.workspace_id !== answer.workspaceId;
  if (attempt === undefined || isForeign) {
    return refused(providerId, null, "The attempt is unknown, or has expired");
  }
  const { auth_id: authId } = attempt;
  if (!(await claimOAuthAttempt(deps.db, authId, Date.now()))) {
    return refused(providerId, authId, "The attempt has already ended, or has expired");
  }
  const failure = await bringToken(deps, attempt, answer);
  if (failure !== null) {
    await failOAuthAttempt(deps.db, authId, {
      error: failure.error,
      error_description: failure.description,
      expires_at: Date.now() + ATTEMPT_TTL_MS,
    });
  }
  return { providerId, authId, failure };
}

/**
 * Obtains and stores the token. Returns null on success. Never throws, because a claimed attempt must be ended.
 */
async function bringToken(
  deps: OAuthDeps,
  attempt: OAuthAttemptRow,
  answer: ProviderAnswer,
): Promise<OAuthFailure | null> {
  try {
    return await exchange(deps, attempt, answer);
  } catch (error) {
    log(deps.settings.logLevel, "error", {
      event: "oauth_attempt_failed",
      workspace: attempt.workspace_id,
      provider: answer.providerId,
      error: error instanceof Error ? (error.stack ?? error.message) : String(error),
    });
    return { error: "server_error", description: "The platform could not store the connection" };
  }
}

async function exchange(
  deps: OAuthDeps,
  attempt: OAuthAttemptRow,
  answer: ProviderAnswer,
): Promise<OAuthFailure | null> {
  const { workspace_id: workspaceId, auth_id: id } = attempt;
  const provider = await selectOAuthProviderById(deps.db, workspaceId, attempt.provider);
  // A provider that answers for another one may want to steal the other's code.
  if (provider?.provider_id !== answer.providerId) {
    return invalidState("The attempt was made with another provider");
  }
  const { code, error } = answer;
  if (error !== undefined && error !== "") {
    return failureOf(error, answer.errorDescription, "The provider reported an error");
  }
  if (code === undefined || code === "") {
    const description = "The provider sent neither a code nor an error";
    return { error: "invalid_request", description };
  }
  const { code_verifier: sealed, redirect_uri: redirectUri } = attempt;
  const codeVerifier =
    sealed === null
      ? null
      : await openOAuth(deps.settings.encryptionKeys, sealed, {
          kind: "code_verifier",
          workspaceId,
          id,
        });
  const result = await exchangeCode(deps, provider, { code, state: id, redirectUri, codeVerifier });
  return result.ok ? store(deps, { attempt, provider, grant: result.grant }) : result.failure;
}

async function store(
  deps: OAuthDeps,
  of: { attempt: OAuthAttemptRow; provider: OAuthProviderRow; grant: TokenGrant },
): Promise<OAuthFailure | null> {
  const { attempt, provider, grant } = of;
  const { workspace_id: workspaceId } = attempt;
  const id = attempt.token_id ?? uuid();
  const now = Date.now();
  const token = {
    id,
    workspace_id: workspaceId,
    provider: provider.id,
    user_id: attempt.user_id,
    agent_id: attempt.agent_id,
    scopes: grant.scopes === null ? attempt.scopes : JSON.stringify(grant.scopes),
    ...(await sealTokens(deps.settings.encryptionKeys, { workspaceId, id }, grant)),
    provider_account_label: grant.accountLabel,
    metadata: grant.metadata === null ? null : JSON.stringify(grant.metadata),
    is_default: attempt.is_default,
    expires_at: grant.expiresAt,
    updated_at: now,
  };
  const isStored = await completeOAuthAttempt(
    deps.db,
    attempt.auth_id,
    token,
    now + ATTEMPT_TTL_MS,
  );
  return isStored ? null : invalidState("The provider was deleted meanwhile");
}

function refused(providerId: string, authId: string | null, description: string): AttemptOutcome {
  return { providerId, authId, failure: invalidState(description) };
}

function invalidState(description: string): OAuthFailure {
  return { error: "invalid_state", description };
}
