import { v5 as uuidv5 } from "uuid";
import { ApiError } from "../../lib/api-error.ts";
import type { GitHost } from "../builds/git-host.ts";

/** A random UUID that serves as the namespace of integration ids. */
const NAMESPACE = "6a1fd1fb-5f0b-4b4c-9a4a-9a6c3d1e7a52";

const EVERYBODY = "*";

type GitSettings = {
  githubApiUrl: string;
  githubToken: string;
  githubTokenWorkspaces: readonly string[];
};

/** The installation's account at the Git host, as one workspace may use it. */
export type Integration = { id: string; host: GitHost };

/** Returns the integration of a workspace; null when the installation has none, or none for this workspace. */
export function integrationOf(settings: GitSettings, workspaceId: string): Integration | null {
  const { githubApiUrl: apiUrl, githubToken: token, githubTokenWorkspaces: ids } = settings;
  if (token === "" || !(ids.includes(EVERYBODY) || ids.includes(workspaceId))) return null;
  // Each workspace has a different id, so that an id reveals nothing about other workspaces.
  const id = uuidv5(`${workspaceId}/${apiUrl}`, NAMESPACE);
  return { id, host: { apiUrl, token, tokenName: "GITHUB_INTEGRATION_TOKEN" } };
}

/** Throws a 404 with advice when the workspace has no such integration. */
export function requireIntegration(
  settings: GitSettings,
  workspaceId: string,
  id: string,
): Integration {
  const found = integrationOf(settings, workspaceId);
  if (found?.id === id) return found;
  throw new ApiError("not_found", `Integration ID ${id} not found. ${adviceFor(found)}`);
}

/** Returns the advice for a workspace that names an integration which it does not have. */
export function adviceFor(found: Integration | null): string {
  return found === null
    ? "The installation reads no repositories for this workspace: give the deployment the secret THREADWORKS_GITHUB_TOKEN for a private one"
    : "GET /v1/integrations/github/install lists the one that exists";
}
