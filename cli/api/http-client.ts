import { setTimeout as sleep } from "node:timers/promises";
import { CliError } from "../cli-error.ts";
import { RequestFailure } from "./request-failure.ts";

const TIMEOUT_MS = 30_000;
const RETRIES = 3;
const FIRST_RETRY_DELAY_MS = 250;
/** However long a platform with too many requests wants one to wait. */
const MAX_WAIT_MS = 60_000;

/** Failures before a connection stood, so that no server has seen anything of the request. */
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
  /** Below the client's URL, or a whole URL. */
  path: string;
  query?: Record<string, string | number | boolean | undefined>;
  /** Sent as JSON. */
  json?: unknown;
  /** Changes nothing, so that it may be sent again when its connection breaks. GET is such anyway. */
  onlyReads?: boolean;
};

export type HttpClientOptions = {
  /** Of the platform, without a slash at its end. */
  url: string;
  apiKey: string;
  /** Where the key comes from, for messages about a key that is refused. */
  keySource: string;
  tenantId?: string | undefined;
  timeoutMs?: number;
  retryDelayMs?: number;
};

/** Asks one platform with one key. Answers that are not 2xx are a `RequestFailure`. */
export class HttpClient {
  readonly url: string;
  readonly #options: HttpClientOptions;

  constructor(options: HttpClientOptions) {
    this.url = options.url;
    this.#options = options;
  }

  /** The answer's JSON, or undefined when it has no body. */
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

  /** Uploads to an address that carries its own permission: without the key. */
  async upload(url: string, bytes: Uint8Array, timeoutMs: number): Promise<void> {
    const headers = { "content-type": "application/gzip" };
    // A copy on an ArrayBuffer of its own is what `fetch` takes.
    const body = new Blob([Uint8Array.from(bytes)]);
    const target = new URL(url, this.url);
    const init = { method: "PUT", headers, body };
    // What the rest of the address is allows whoever reads it to upload.
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

/** What `Retry-After` says in seconds, where it does. */
function waitOf({ headers }: Response): number | undefined {
  const text = headers.get("retry-after") ?? "";
  return /^\d+$/.test(text) ? Math.min(Number(text) * 1000, MAX_WAIT_MS) : undefined;
}

function parseAnswer(text: string, { method, path }: HttpRequest): unknown {
  if (text === "") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw new CliError(`${method} ${path} was answered with something else than JSON`);
  }
}

/** `fetch` hides the system's error in its cause, and one for each address in an `AggregateError`. */
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
