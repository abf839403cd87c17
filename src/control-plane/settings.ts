import { z } from "zod";
import { seconds, text, webAddress } from "../lib/settings.ts";

export const controlPlaneSettings = z
  .object({
    OAUTH_FRONTEND_CALLBACK_URL: webAddress(),
    DEPLOYMENT_LOG_SECONDS: seconds(14 * 86_400),
    GITHUB_URL: webAddress(),
    GITHUB_API_URL: webAddress(),
    GITHUB_INTEGRATION_TOKEN: text(""),
    GITHUB_INTEGRATION_WORKSPACES: text(""),
    NPM_REGISTRY: webAddress(),
    NPM_TOKEN: text(""),
  })
  .transform((vars) => ({
    /** The page that shows users the result of connecting a service; null for the platform's own page. */
    oauthCallbackPage: vars.OAUTH_FRONTEND_CALLBACK_URL,
    /** How long lines of a deployment's log are kept, in milliseconds. */
    deploymentLogMs: vars.DEPLOYMENT_LOG_SECONDS,
    /** The base URL of repositories, and that of the API for their commits and archives. */
    githubUrl: withoutSlash(vars.GITHUB_URL ?? "https://github.com"),
    githubApiUrl: withoutSlash(vars.GITHUB_API_URL ?? "https://api.github.com"),
    /**
     * The token of the installation's own account at the Git host, and the workspaces that may use it; "*" stands
     * for all.
     */
    githubToken: vars.GITHUB_INTEGRATION_TOKEN,
    githubTokenWorkspaces: vars.GITHUB_INTEGRATION_WORKSPACES.split(",")
      .map((id) => id.trim().toLowerCase())
      .filter((id) => id !== ""),
    /** The registry from which builds get packages, and its token, which is empty for none. */
    npmRegistry: withoutSlash(vars.NPM_REGISTRY ?? "https://registry.npmjs.org"),
    npmToken: vars.NPM_TOKEN,
  }));

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, "");
}
