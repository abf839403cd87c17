import { request } from "node:http";
import { type Answer, parseBody } from "./http.ts";
import type { TestServer } from "./server.ts";

/** Sends a request to the server under another host name, which `fetch` cannot send. A body is sent as JSON. */
export async function askHost(
  server: TestServer,
  host: string,
  path: string,
  options: { method?: string; headers?: Record<string, string>; body?: unknown } = {},
): Promise<Answer> {
  const { method = "GET", headers = {}, body } = options;
  const type = body === undefined ? {} : { "content-type": "application/json" };
  return new Promise((resolve, reject) => {
    const asked = request(
      new URL(path, server.url),
      { method, headers: { ...type, ...headers, host }, agent: false },
      (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (chunk: string) => (text += chunk));
        response.on("error", reject);
        response.on("end", () => {
          const headers = new Headers(response.headers as Record<string, string>);
          resolve({ status: response.statusCode ?? 0, body: parseBody(text), headers });
        });
      },
    );
    asked.on("error", reject);
    asked.end(body === undefined ? undefined : JSON.stringify(body));
  });
}
