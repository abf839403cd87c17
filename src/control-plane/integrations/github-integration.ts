import { v5 as uuidv5 } from "uuid";
import { ApiError } from "../../lib/api-error.ts";
import type { GitHost } from "../builds/git-host.ts";

/** Made up once: ids of integrations are made of it. */
const NAMESPACE = "6a1fd1fb-5f0b-4b4c-9a4a-9a6c3d1e7a52";

const EVERYBODY = "*";

type GitSettings = {
  githubApiUrl: string;
  githubToken: string;
  githubTokenWorkspaces: readonly string[];
};

/** The installation's account at the Git host, as one workspace may use it. */
export type Integration = { id: string; host: GitHost };

/** The one integration of a workspace; null where the installation has none, or none for this workspace. */
export function integrationOf(settings: GitSettings, workspaceId: string): Integration | null {
  const { githubApiUrl: apiUrl, githubToken: token, githubTokenWorkspaces: ids } = settings;
  if (token === "" || !(ids.includes(EVERYBODY) || ids.includes(workspaceId))) return null;
  // Each workspace has an id of its own, so that nobody's tells anything about another one.
  const id = uuidv5(`${workspaceId}/${apiUrl}`, NAMESPACE);
  return { id, host: { apiUrl, token, tokenName: "GITHUB_INTEGRATION_TOKEN" } };
}

/** It throws a 404, which says what there is instead, where the workspace has no such integration. */
export function requireIntegration(
  settings: GitSettings,
  workspaceId: string,
  id: string,
): Integration {
  const found = integrationOf(settings, workspaceId);
  if (found?.id === id) return found;
  throw new ApiError("not_found", `Integration ID ${id} not found. ${adviceFor(found)}`);
}

/** What a workspace is told that names an integration which it does not have. */
export function adviceFor(found: Integration | null): string {
  return found === null
    ? "The installation reads no repositories for this workspace: give the deployment the secret THREADWORKS_GITHUB_TOKEN for a private one"
    : "GET /v1/integrations/github/install tells the one that there is";
}
