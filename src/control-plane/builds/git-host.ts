import { z } from "zod";
import { ApiError } from "../../lib/api-error.ts";
import { readLimited } from "../../lib/bytes.ts";
import { MAX_REPOSITORY_BYTES } from "../../lib/remote-build.ts";
import type { Repository } from "../deployments/repository-url.ts";
import { ProjectFailure } from "../deployments/rollout/project-failure.ts";

const FETCH_TIMEOUT_MS = 60_000;
const MAX_REDIRECTS = 5;

/** Maximum size of the API's response that contains a commit's SHA. */
const MAX_SHA_BYTES = 1024;
const SHA = /^[0-9a-f]{40}$/;

export type GitHost = {
  /** The base URL of the API, without a trailing slash. */
  apiUrl: string;
  /** The token for repositories that are not public; null for none. */
  token: string | null;
  /** The secret or the variable that contains the token, for error messages. */
  tokenName: string;
};

/** Maximum size of a page of the API: a hundred repositories with all of their fields. */
const MAX_PAGE_BYTES = 4 * 1024 * 1024;
const REPOSITORIES_PER_PAGE = 100;
const MAX_PAGES = 10;

const account = z.object({ id: z.int(), login: z.string() });

const repositories = z.array(
  z.object({
    id: z.int(),
    name: z.string(),
    owner: z.object({ login: z.string() }),
    default_branch: z.string(),
  }),
);

/**
 * Returns the SHA of the commit that a branch, a tag or an abbreviated commit stands for. Throws a
 * `ProjectFailure` when the repository or the ref does not exist, and other errors for failures that may pass with
 * time.
 */
export async function resolveCommit(
  host: GitHost,
  { owner, name }: Repository,
  ref: string,
): Promise<string> {
  const short = ref.replace(/^refs\//, "");
  const response = await ask(host, `/repos/${owner}/${name}/commits/${encodeURIComponent(short)}`, {
    accept: "application/vnd.github.sha",
  });
  await requireFound(host, response, `${owner}/${name} has no commit "${ref}"`);
  const bytes = await readLimited(response.body, MAX_SHA_BYTES);
  const sha = new TextDecoder().decode(bytes ?? new Uint8Array()).trim();
  if (SHA.test(sha)) return sha;
  throw new Error("The Git host's answer contains no commit");
}

/**
 * Returns the gzipped tarball of a commit, which has a single top-level folder. Throws the same errors as
 * `resolveCommit`.
 */
export async function fetchArchive(
  host: GitHost,
  { owner, name }: Repository,
  sha: string,
): Promise<Uint8Array> {
  const response = await ask(host, `/repos/${owner}/${name}/tarball/${sha}`);
  await requireFound(host, response, `${owner}/${name} has no commit ${sha}`);
  const bytes = await readLimited(response.body, MAX_REPOSITORY_BYTES);
  if (bytes !== null) return bytes;
  throw new ProjectFailure(
    `${owner}/${name} is too large: its archive has more than ${MAX_REPOSITORY_BYTES} bytes. Build it on your machine: threadworks deploy --build local`,
  );
}

/**
 * Sends a request and follows redirects itself: archives are on another host, which must not receive the token.
 */
async function ask(
  { apiUrl, token }: GitHost,
  path: string,
  headers: Record<string, string> = {},
): Promise<Response> {
  const api = new URL(apiUrl);
  let url = new URL(apiUrl + path);
  for (let redirect = 0; redirect <= MAX_REDIRECTS; redirect += 1) {
    const authorization =
      token !== null && url.origin === api.origin ? { authorization: `Bearer ${token}` } : {};
    const response = await fetch(url, {
      headers: { "user-agent": "threadworks", ...headers, ...authorization },
      redirect: "manual",
      signal: AbortSignal.timeout(FETCH_TIMEOUT_MS),
    });
    const location = response.headers.get("location");
    if (response.status < 300 || response.status >= 400 || location === null) return response;
    await response.body?.cancel();
    url = new URL(location, url);
    if (url.protocol !== "https:" && url.protocol !== api.protocol) break;
  }
  throw new Error("The Git host's redirects do not lead to an archive");
}

/** Returns the account that owns the token. Throws a 503 with the reason when the Git host does not answer. */
export async function readAccount(host: GitHost): Promise<z.infer<typeof account>> {
  return readJson(host, "/user", account);
}

/**
 * Returns the first thousand repositories that the token may read, ordered by name. Throws the same errors as
 * `readAccount`.
 */
export async function readRepositories(host: GitHost): Promise<z.infer<typeof repositories>> {
  const found: z.infer<typeof repositories> = [];
  for (let page = 1; page <= MAX_PAGES; page += 1) {
    const query = `per_page=${REPOSITORIES_PER_PAGE}&sort=full_name&page=${page}`;
    const part = await readJson(host, `/user/repos?${query}`, repositories);
    found.push(...part);
    if (part.length < REPOSITORIES_PER_PAGE) break;
  }
  return found;
}

async function readJson<T>(host: GitHost, path: string, schema: z.ZodType<T>): Promise<T> {
  let response: Response;
  try {
    response = await ask(host, path, { accept: "application/vnd.github+json" });
  } catch (error) {
    throw new ApiError("unavailable", "The Git host cannot be reached", { cause: error });
  }
  if (!response.ok) {
    await response.body?.cancel();
    const { status } = response;
    const reason = status === 401 ? `does not accept ${host.tokenName}` : `answers ${status}`;
    throw new ApiError("unavailable", `The Git host ${reason}`);
  }
  const bytes = await readLimited(response.body, MAX_PAGE_BYTES);
  try {
    return schema.parse(JSON.parse(new TextDecoder().decode(bytes ?? new Uint8Array())));
  } catch (cause) {
    throw new ApiError("unavailable", "The Git host sent an answer that cannot be read", { cause });
  }
}

async function requireFound(
  { token, tokenName }: GitHost,
  response: Response,
  missing: string,
): Promise<void> {
  if (response.ok) return;
  await response.body?.cancel();
  const { status } = response;
  if (status === 401) {
    throw new ProjectFailure(`The Git host does not accept the token ${tokenName}`);
  }
  if (status === 404 || status === 422) {
    const hint =
      token === null
        ? ", or not everybody may read it: give the deployment the secret THREADWORKS_GITHUB_TOKEN"
        : `, or the token ${tokenName} may not read it`;
    throw new ProjectFailure(missing + hint);
  }
  // For example 403 and 429, when there were too many requests.
  throw new Error(`The Git host answers ${status}`);
}
