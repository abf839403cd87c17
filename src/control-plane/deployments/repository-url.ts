import { invalidField } from "../../lib/api-error.ts";

export type Repository = { owner: string; name: string };

/**
 * Returns the repository that a URL of the installation's Git host names, such as `https://github.com/owner/name`;
 * null when it names none. `githubUrl` has no trailing slash.
 */
export function parseRepositoryUrl(text: string, githubUrl: string): Repository | null {
  const [url, host] = [URL.parse(text), new URL(githubUrl)];
  if (url === null || url.origin !== host.origin || url.search !== "" || url.hash !== "")
    return null;
  if (url.username !== "" || url.password !== "") return null;
  const base = host.pathname.replace(/\/$/, "");
  if (!url.pathname.startsWith(`${base}/`)) return null;
  const [, owner, name] =
    /^\/([A-Za-z0-9][\w.-]*)\/([\w.-]+?)(?:\.git)?\/?$/.exec(url.pathname.slice(base.length)) ?? [];
  if (owner === undefined || name === undefined || /^\.+$/.test(name)) return null;
  return { owner, name };
}

/** Throws a 422 when the URL is missing or does not name a repository. */
export function checkRepositoryUrl(repoUrl: string | null, githubUrl: string): void {
  const loc = ["body", "source_config", "repo_url"];
  if (repoUrl === null) throw invalidField(loc, "Field required for source github", "missing");
  if (parseRepositoryUrl(repoUrl, githubUrl) !== null) return;
  const message = `String should be the URL of a repository, such as ${githubUrl}/owner/name`;
  throw invalidField(loc, message, "value_error");
}
