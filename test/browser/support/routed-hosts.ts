import { request as ask } from "node:http";
import type { BrowserContext, Request, Route } from "playwright-core";

type Answer = { status: number; headers: Record<string, string>; body: Buffer };

/** Routes a browser's HTTPS requests for the hosts of an installation to a server on this machine. */
export async function routeHosts(
  context: BrowserContext,
  isRouted: (hostname: string) => boolean,
  serverUrl: string,
): Promise<void> {
  await context.route(
    (url) => isRouted(url.hostname),
    async (route: Route) => route.fulfill(await answerOf(route.request(), serverUrl)),
  );
}

async function answerOf(request: Request, serverUrl: string): Promise<Answer> {
  const { pathname, search, host } = new URL(request.url());
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const sent = ask(
    new URL(pathname + search, serverUrl),
    { method: request.method(), headers: { ...(await request.allHeaders()), host }, agent: false },
    (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => {
        const headers = Object.entries(response.headers).map(([name, value]) => [
          name,
          [value].flat().join(", "),
        ]);
        resolve({
          status: response.statusCode ?? 0,
          headers: Object.fromEntries(headers),
          body: Buffer.concat(chunks),
        });
      });
    },
  );
  sent.on("error", reject);
  sent.end(request.postDataBuffer() ?? undefined);
  return promise;
}
