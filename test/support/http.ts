import type { TestServer } from "./server.ts";

export type Answer = { status: number; body: unknown; headers: Headers };

/** Sends a request with a JSON body, and returns the status and headers, which the SDK hides. */
export async function send(
  server: TestServer,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const hasBody = body !== undefined;
  const response = await server.fetch(path, {
    method,
    headers: { ...(hasBody ? { "content-type": "application/json" } : {}), ...headers },
    ...(hasBody ? { body: JSON.stringify(body) } : {}),
  });
  return toAnswer(response);
}

export async function toAnswer(response: Response): Promise<Answer> {
  const text = await response.text();
  return { status: response.status, body: parseBody(text), headers: response.headers };
}

/** Returns an answer without its headers, for comparisons. */
export async function answerOf(request: Promise<Answer>): Promise<Omit<Answer, "headers">> {
  const { status, body } = await request;
  return { status, body };
}

/** Parses a body as JSON; returns its text if it is not JSON. */
export function parseBody(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
