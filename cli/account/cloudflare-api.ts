import { z } from "zod";
import { CliError } from "../cli-error.ts";
import { reasonOf, runWrangler } from "./wrangler.ts";

const DEFAULT_BASE = "https://api.cloudflare.com/client/v4";
const TIMEOUT_MS = 60_000;
/** Maximum attempts of a GET request that is answered with a server error, such as 502. */
const ATTEMPTS = 3;

const envelope = z.object({
  success: z.boolean(),
  result: z.unknown(),
  errors: z.array(z.looseObject({ code: z.number(), message: z.string() })).default([]),
});

/** Thrown when Cloudflare answers a request with an error. */
class CloudflareFailure extends CliError {
  readonly status: number;

  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}

type RequestOptions = { body?: object; headers?: Record<string, string> };

/** A client of Cloudflare's API for one account, below `/accounts/<id>`. */
export class CloudflareApi {
  readonly accountId: string;
  readonly #base: string;
  readonly #token: string;

  constructor(options: { base: string; token: string; accountId: string }) {
    this.accountId = options.accountId;
    this.#base = options.base;
    this.#token = options.token;
  }

  /** Returns the `result` of the response. Throws a `CloudflareFailure` with Cloudflare's error messages. */
  request(method: string, path: string, options: RequestOptions = {}): Promise<unknown> {
    const url = `${this.#base}/accounts/${this.accountId}${path}`;
    return send(method, url, { ...options, token: this.#token });
  }

  /** Sends a GET request and returns its `result`, or undefined when the response is a 404. */
  async find(path: string, options: RequestOptions = {}): Promise<unknown> {
    try {
      return await this.request("GET", path, options);
    } catch (error) {
      if (error instanceof CloudflareFailure && error.status === 404) return undefined;
      throw error;
    }
  }
}

/** Returns a client for the account that wrangler would use, found by the same variables or the same login. */
export async function openAccount(cwd: string): Promise<CloudflareApi> {
  const { env } = process;
  const base = (env["CLOUDFLARE_API_BASE_URL"] || DEFAULT_BASE).replace(/\/+$/, "");
  const token = env["CLOUDFLARE_API_TOKEN"] || (await tokenOfWrangler(cwd));
  const accountId = env["CLOUDFLARE_ACCOUNT_ID"] || (await onlyAccount(base, token));
  return new CloudflareApi({ base, token, accountId });
}

async function tokenOfWrangler(cwd: string): Promise<string> {
  const result = await runWrangler(["auth", "token"], { cwd });
  const token = result.stdout.trim().split("\n").at(-1)?.trim() ?? "";
  if (result.code === 0 && /^\S+$/.test(token)) return token;
  throw new CliError(
    `no Cloudflare account: run npx wrangler login, or set CLOUDFLARE_API_TOKEN (${reasonOf(result)})`,
  );
}

async function onlyAccount(base: string, token: string): Promise<string> {
  const accounts = z
    .array(z.looseObject({ id: z.string(), name: z.string() }))
    .parse(await send("GET", `${base}/accounts`, { token }));
  const [only, ...others] = accounts;
  if (only !== undefined && others.length === 0) return only.id;
  const names = accounts.map(({ id, name }) => `  ${id}  ${name}`).join("\n");
  throw new CliError(
    accounts.length === 0
      ? "the token reaches no Cloudflare account"
      : `set CLOUDFLARE_ACCOUNT_ID to one of these accounts:\n${names}`,
  );
}

async function send(
  method: string,
  url: string,
  { token, body, headers }: RequestOptions & { token: string },
): Promise<unknown> {
  for (let attempt = 1; ; attempt += 1) {
    const response = await fetch(url, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    }).catch((error: Error) => {
      throw new CliError(`Cloudflare cannot be reached: ${method} ${url}: ${error.message}`);
    });
    const answer = envelope.safeParse(await response.json().catch(() => null));
    if (response.ok && answer.success && answer.data.success) return answer.data.result;
    // A failed request that creates something may have created it, so it is not retried: the next `up` finds it.
    if (response.status >= 500 && method === "GET" && attempt < ATTEMPTS) continue;
    const told = answer.data?.errors.map(({ code, message }) => `${message} (${code})`) ?? [];
    const path = new URL(url).pathname;
    throw new CloudflareFailure(
      `Cloudflare answered ${response.status} to ${method} ${path}: ${told.join("; ") || "no reason"}`,
      response.status,
    );
  }
}
