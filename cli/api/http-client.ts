import { setTimeout as sleep } from "node:timers/promises";
import { CliError } from "../cli-error.ts";
import { RequestFailure } from "./request-failure.ts";

const TIMEOUT_MS = 30_000;
const RETRIES = 3;
const FIRST_RETRY_DELAY_MS = 250;
/** Maximum time to wait before a retry after a 429, whatever the platform's `Retry-After` says. */
const MAX_WAIT_MS = 60_000;

/** Error codes of failures before a connection was established, so that no server has received the request. */
const CONNECT_FAILURES = new Set([
  "EAI_AGAIN",
  "ECONNREFUSED",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "UND_ERR_CONNECT_TIMEOUT",
]);

export type HttpRequest = {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** A path below the client's URL. */
  path: string;
  query?: Record<string, string | number | boolean | undefined>;
  /** Sent as JSON. */
  json?: unknown;
  /** The request changes nothing, so it may be sent again when its connection breaks. This is the default for GET. */
  onlyReads?: boolean;
};

export type HttpClientOptions = {
  /** URL of the platform, without a trailing slash. */
  url: string;
  apiKey: string;
  /** The source of the key, for messages about a refused key. */
  keySource: string;
  tenantId?: string | undefined;
  timeoutMs?: number;
  retryDelayMs?: number;
};

/** Sends requests to one platform with one key. A response other than 2xx throws a `RequestFailure`. */
export class HttpClient {
  readonly url: string;
  readonly #options: HttpClientOptions;

  constructor(options: HttpClientOptions) {
    this.url = options.url;
    this.#options = options;
  }

  /** Sends a request and returns the JSON of the response, or undefined when it has no body. */
  async request(request: HttpRequest): Promise<unknown> {
    const { apiKey, keySource, tenantId } = this.#options;
    const headers: Record<string, string> = { accept: "application/json", "x-api-key": apiKey };
    if (tenantId !== undefined) headers["x-tenant-id"] = tenantId;
    if (request.json !== undefined) headers["content-type"] = "application/json";
    const url = new URL(this.url + request.path);
    for (const [name, value] of Object.entries(request.query ?? {})) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    const body = request.json === undefined ? null : JSON.stringify(request.json);
    const init = { method: request.method, headers, body };
    const shown = `${url.origin}${url.pathname}`;
    const onlyReads = request.onlyReads ?? request.method === "GET";
    const { response, text } = await this.#send(url, init, { shown, onlyReads });
    if (response.ok) return parseAnswer(text, request);
    const failure = new RequestFailure(request, response, text);
    if (response.status === 401) failure.message += ` (the key is that of ${keySource})`;
    throw failure;
  }

  /** Uploads to an address that carries its own permission, so the key is not sent. */
  async upload(url: string, bytes: Uint8Array, timeoutMs: number): Promise<void> {
    const headers = { "content-type": "application/gzip" };
    // `fetch` requires bytes on an ArrayBuffer that is not shared, so this makes a copy.
    const body = new Blob([Uint8Array.from(bytes)]);
    const target = new URL(url, this.url);
    const init = { method: "PUT", headers, body };
    // The rest of the address is not shown: anyone who reads it could upload.
    const shown = `${target.origin}/...`;
    const { response, text } = await this.#send(target, init, { shown, timeoutMs });
    if (!response.ok) throw new RequestFailure({ method: "PUT", path: shown }, response, text);
  }

  async #send(
    url: URL,
    init: RequestInit,
    {
      shown,
      onlyReads = false,
      timeoutMs = this.#options.timeoutMs ?? TIMEOUT_MS,
    }: { shown: string; onlyReads?: boolean; timeoutMs?: number },
  ): Promise<{ response: Response; text: string }> {
    const firstDelayMs = this.#options.retryDelayMs ?? FIRST_RETRY_DELAY_MS;
    for (let attempt = 0; ; attempt += 1) {
      try {
        const signal = AbortSignal.timeout(timeoutMs);
        const response = await fetch(url, { ...init, signal, redirect: "error" });
        const text = await response.text();
        if (response.status !== 429 || attempt >= RETRIES) return { response, text };
        await sleep(waitOf(response) ?? firstDelayMs * 2 ** attempt);
      } catch (error) {
        const mayRepeat = onlyReads ? !isTimeout(error) : isConnectFailure(error);
        if (attempt >= RETRIES || !mayRepeat) {
          const reason = describeNetworkFailure(error, timeoutMs);
          throw new CliError(`${init.method} ${shown} failed: ${reason}`);
        }
        await sleep(firstDelayMs * 2 ** attempt);
      }
    }
  }
}

/** Returns the milliseconds that `Retry-After` asks for, when it is given in seconds. */
function waitOf({ headers }: Response): number | undefined {
  const text = headers.get("retry-after") ?? "";
  return /^\d+$/.test(text) ? Math.min(Number(text) * 1000, MAX_WAIT_MS) : undefined;
}

function parseAnswer(text: string, { method, path }: HttpRequest): unknown {
  if (text === "") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw new CliError(`${method} ${path} returned a response that is not JSON`);
  }
}

/**
 * Returns the underlying errors. `fetch` hides the system's error in its cause, or one for each address in an
 * `AggregateError`.
 */
function networkErrors(error: unknown): { code?: unknown; message: string }[] {
  if (error instanceof AggregateError && error.errors.length > 0) {
    return error.errors.flatMap(networkErrors);
  }
  if (!(error instanceof Error)) return [];
  return error.cause === undefined ? [error] : networkErrors(error.cause);
}

function isConnectFailure(error: unknown): boolean {
  const errors = networkErrors(error);
  return errors.length > 0 && errors.every(({ code }) => CONNECT_FAILURES.has(String(code)));
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === "TimeoutError";
}

function describeNetworkFailure(error: unknown, timeoutMs: number): string {
  if (isTimeout(error)) {
    return `no answer within ${timeoutMs / 1000} seconds`;
  }
  return networkErrors(error)[0]?.message ?? String(error);
}
