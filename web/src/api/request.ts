/** An error response of the server, with the server's message. */
export class ServerError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

type Options = { apiKey?: string; method?: string; body?: unknown; signal?: AbortSignal };

/** Sends a request to a documented route of the API, and returns the JSON of the response. */
export async function request<T = unknown>(url: string, options: Options = {}): Promise<T> {
  const { apiKey, method = "GET", body, signal } = options;
  const response = await fetch(url, {
    method,
    headers: {
      ...(apiKey === undefined ? {} : { "x-api-key": apiKey }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  });
  const text = await textOf(response);
  return (text === "" ? null : JSON.parse(text)) as T;
}

/** Uploads a file to a URL from the API, which includes all permissions that are needed. */
export async function upload(url: string, file: Blob): Promise<void> {
  const headers = { "content-type": "application/gzip" };
  await textOf(await fetch(url, { method: "PUT", headers, body: file }));
}

async function textOf(response: Response): Promise<string> {
  const text = await response.text();
  if (!response.ok) throw new ServerError(response.status, messageOf(response.status, text));
  return text;
}

function messageOf(status: number, text: string): string {
  try {
    return detailText((JSON.parse(text) as { detail?: unknown }).detail) ?? text;
  } catch {
    return text === "" ? `The server answered ${status} without a text` : text;
  }
}

type Problem = { loc?: unknown[]; msg?: string };

function detailText(detail: unknown): string | undefined {
  if (typeof detail === "string") return detail;
  if (!Array.isArray(detail)) return undefined;
  return (detail as Problem[])
    .map(({ loc = [], msg = "" }) => `${loc.slice(1).join(".")}: ${msg}`.replace(/^: /, ""))
    .join("\n");
}
