import type { TestServer } from "./server.ts";

export type Answer = { status: number; body: unknown; headers: Headers };

/** A request with a JSON body, where what matters is what the SDK hides: status and headers. */
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

/** What an answer says, without the headers, for comparisons. */
export async function answerOf(request: Promise<Answer>): Promise<Omit<Answer, "headers">> {
  const { status, body } = await request;
  return { status, body };
}

/** The JSON of a body, or its text when that is not JSON. */
export function parseBody(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
